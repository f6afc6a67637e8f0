// SPDX-License-Identifier: Apache-2.0
// What a warp that executes PTX knows of itself: special registers, and the spans that traces show.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/ptx/ptx_warp.h"
#include "sim/ptx/special_values.h"

namespace sm100::sim {

using ptx::Instr;

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
  const Awaited awaited{barrier.offset(), parity};
  if (doing_ == TraceEvent::wait && awaited_ == awaited) return;  // it has given up, and asks again
  does(TraceEvent::wait, {.barrier = barrier, .stage = name.array ? name.stage : -1, .phase = int(phase)});
  awaited_ = awaited;
}

/// Whatever the warp was doing is over.
void PtxWarp::has_waited() {
  if (std::exchange(doing_, std::nullopt)) context.end_derived_span();
}

// ---------------------------------------------------------------- special registers

/// Clocks, as they are now.
void PtxWarp::fill_changing(const Instr&) {
  settle_alu();
  fill_clocks(file, code.program(), context.issue_cycle(), context.profile.device.sm_clock_ghz);
}

// ---------------------------------------------------------------- accumulators of wgmma

uint32_t* PtxWarp::accumulators(std::span<const ptx::Operand> d, bool read) {
  const auto same = [](const ptx::Operand& a, const ptx::Operand& b) { return a.row.at == b.row.at; };
  for (Accumulators& known : accumulators_)
    if (std::equal(d.begin(), d.end(), known.registers.begin(), known.registers.end(), same))
      return known.values.data();
  for (const ptx::Operand& o : d)  // some of them in another shape
    if (const Mark* mark = mark_of(o.row); mark && mark->wgmma != 0) touch_in_flight(mark->wgmma, read);
  Accumulators& added = accumulators_.emplace_back(Accumulators{.registers = d, .values = {}});
  if (!context.sm.with_data) return nullptr;
  added.values.resize(size_t(ptx::kLanes) * d.size());
  for (size_t r = 0; read && r < d.size(); ++r)
    for (int lane = 0; lane < ptx::kLanes; ++lane)
      added.values[size_t(lane) * d.size() + r] = uint32_t(d[r].lane_value(file, lane));
  return added.values.data();
}

void PtxWarp::accumulates(std::span<const ptx::Operand> d, std::span<const ptx::Operand> a, uint32_t number) {
  for (const ptx::Operand& o : d)
    if (Mark* mark = mark_of(o.row)) marked_ += !mark->any(), mark->ready = 0, mark->wgmma = number;
  for (const ptx::Operand& o : a)
    if (Mark* mark = mark_of(o.row)) {
      marked_ += !mark->any(), mark->wgmma_read = number;
      fragments_.push_back({uint32_t(mark - marks_.data()), number});
    }
  for (Accumulators& known : accumulators_)
    if (known.registers.data() == d.data() || known.registers.front().row.at == d.front().row.at)
      known.last = number;
}

void PtxWarp::accumulated(uint32_t number) {
  for (auto known = accumulators_.begin(); known != accumulators_.end();) {
    if (known->last > number) {
      ++known;
      continue;
    }
    const size_t n = known->registers.size();
    for (size_t r = 0; r < n; ++r) {
      const ptx::Operand& to = known->registers[r];
      for (int lane = 0; lane < ptx::kLanes && context.sm.with_data; ++lane)
        to.set_lane(file, lane, known->values[size_t(lane) * n + r]);
      if (!context.sm.with_data) set_unknown(to.row, true, ptx::kAllLanes);
      if (Mark* mark = mark_of(to.row); mark && mark->any()) mark->wgmma = 0, marked_ -= !mark->any();
    }
    known = accumulators_.erase(known);
  }
  std::erase_if(fragments_, [&](const auto& fragment) {
    if (fragment.second > number) return false;
    Mark& mark = marks_[fragment.first];
    if (mark.wgmma_read == fragment.second) mark.wgmma_read = 0, marked_ -= !mark.any();
    return true;
  });
}

void PtxWarp::touch_in_flight(uint32_t number, bool writes) {
  settle_alu();
  context.at(code.loc(current_), ptx::kAllLanes);
  context.warn("WG1",
               fmt::format("{} a register that wgmma.mma_async on its way {}: ptxas waits for it here (C7514)",
                           writes ? "writes" : "reads", writes ? "uses" : "writes"));
  context.wait_for_wgmma(number);
  accumulated(number);
}

}  // namespace sm100::sim
