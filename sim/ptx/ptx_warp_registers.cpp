// SPDX-License-Identifier: Apache-2.0
// What a warp that executes PTX knows of itself: special registers, and the spans that traces show.
#include <algorithm>
#include <optional>
#include <utility>

#include "sim/ptx/ptx_warp.h"

namespace sm100::sim {

using ptx::Instr;
using ptx::LaneMask;

// ---------------------------------------------------------------- spans

void PtxWarp::does(TraceEvent event, const TraceArgs& args) {
  if (!context.cta.observer().recorder() || (doing_ == event && event != TraceEvent::wait)) return;
  has_waited();
  context.derived_span(event, args);
  doing_ = event;
}

void PtxWarp::waits_for(SmemAddr barrier, uint32_t parity) {
  if (!context.cta.observer().recorder()) return;
  const models::Mbarrier::State* state = context.own.mbarrier.find(barrier.offset());
  const BarrierName name = barrier_name(context.cta.kernel(), barrier.offset());
  const int64_t phase = state ? WaitHistory::named(parity, state->phase) : -1;
  const bool goes_on =
      doing_ == TraceEvent::wait && context.given_up && context.given_up->barrier.offset() == barrier.offset();
  if (!goes_on)
    does(TraceEvent::wait, {.barrier = barrier, .stage = name.array ? name.stage : -1, .phase = int(phase)});
}

/// Whatever the warp was doing is over.
void PtxWarp::has_waited() {
  if (std::exchange(doing_, std::nullopt)) context.end_derived_span();
}

// ---------------------------------------------------------------- special registers

void PtxWarp::fill_specials() {
  const PtxLaunch& launch = code.launch();
  const Dim3 id = context.cta.ctaid();
  const uint32_t rank = context.cluster_ctarank(), first = uint32_t(warp_.index) * ptx::kLanes;
  const Dim3 c = launch.cluster;
  const Dim3 clusters{launch.grid.x / c.x, launch.grid.y / c.y, launch.grid.z / c.z};
  const auto uniform = [&](std::string_view name) -> std::optional<uint64_t> {
    const auto xyz = [&](std::string_view base, Dim3 v) -> std::optional<uint64_t> {
      if (name == std::string(base) + ".x") return v.x;
      if (name == std::string(base) + ".y") return v.y;
      if (name == std::string(base) + ".z") return v.z;
      return std::nullopt;
    };
    for (const auto& [base, v] :
         {std::pair{"%ntid", launch.block}, std::pair{"%ctaid", id}, std::pair{"%nctaid", launch.grid},
          std::pair{"%clusterid", Dim3{id.x / c.x, id.y / c.y, id.z / c.z}}, std::pair{"%nclusterid", clusters},
          std::pair{"%cluster_ctaid", Dim3{id.x % c.x, id.y % c.y, id.z % c.z}}, std::pair{"%cluster_nctaid", c}})
      if (const auto v2 = xyz(base, v)) return v2;
    if (name == "%cluster_ctarank") return rank;
    if (name == "%cluster_nctarank") return c.x * c.y * c.z;
    if (name == "%warpid") return uint64_t(warp_.index);
    if (name == "%nwarpid") return 64;
    if (name == "%smid") return uint64_t(context.sm.id);
    if (name == "%nsmid") return uint64_t(context.profile.device.sms);
    if (name == "%gridid") return uint64_t(context.cta.launch());
    if (name == "%is_explicit_cluster") return c.x * c.y * c.z > 1 ? kAllLanes : 0;
    if (name == "%dynamic_smem_size") return launch.dynamic_smem_bytes;
    if (name == "%total_smem_size") return launch.dynamic_smem_bytes + code.program().static_shared_bytes;
    return std::nullopt;
  };
  for (const ptx::Special& special : code.program().specials) {
    if (special.changes) continue;
    const std::string_view name = special.name;
    if (special.width == 1) {
      file.set_predicate(special.row, LaneMask(uniform(name).value_or(0)), kAllLanes);
      continue;
    }
    for (int lane = 0; lane < ptx::kLanes; ++lane) {
      const uint32_t thread = first + uint32_t(lane);
      const Dim3 b = launch.block;
      uint64_t v = 0;
      if (name == "%tid.x")
        v = thread % b.x;
      else if (name == "%tid.y")
        v = thread / b.x % b.y;
      else if (name == "%tid.z")
        v = thread / b.x / b.y;
      else if (name == "%laneid")
        v = uint64_t(lane);
      else if (name == "%lanemask_eq")
        v = 1u << lane;
      else if (name == "%lanemask_lt")
        v = (1u << lane) - 1;
      else if (name == "%lanemask_le")
        v = (uint64_t{2} << lane) - 1;
      else if (name == "%lanemask_gt")
        v = uint32_t(~((uint64_t{2} << lane) - 1));
      else if (name == "%lanemask_ge")
        v = uint32_t(~((uint64_t{1} << lane) - 1));
      else
        v = uniform(name).value_or(0);
      if (special.width == 4)
        file.write<uint32_t>(special.row)[lane] = uint32_t(v);
      else
        file.write<uint64_t>(special.row)[lane] = v;
    }
  }
}

/// Clocks, as they are now.
void PtxWarp::fill_changing(const Instr&) {
  settle_alu();
  const uint64_t cycle = context.issue_cycle();
  for (const ptx::Special& special : code.program().specials) {
    if (!special.changes) continue;
    uint64_t v = cycle;
    if (special.name == "%clock_hi") v = cycle >> 32;
    if (special.name.starts_with("%globaltimer")) {
      const auto ns = uint64_t(double(cycle) / context.profile.device.sm_clock_ghz);
      v = special.name == "%globaltimer_hi" ? ns >> 32 : ns;
    }
    for (int lane = 0; lane < ptx::kLanes; ++lane)
      if (special.width == 4)
        file.write<uint32_t>(special.row)[lane] = uint32_t(v);
      else
        file.write<uint64_t>(special.row)[lane] = v;
  }
}

}  // namespace sm100::sim
