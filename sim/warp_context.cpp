// SPDX-License-Identifier: Apache-2.0
#include "sim/warp_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

#include "kernels/isa/device_trace.h"
#include "sim/address_hint.h"
#include "sim/hazards/barriers_meant.h"
#include "sim/instructions/lane_stores.h"
#include "sim/tensor_place.h"
#include "sim/text.h"

namespace sm100::sim {

using models::now;

void WarpContext::violate(const char* id, std::string message) {
  cta.observer().violation({id, std::move(message), now(), own.slot, 0, source()});
}

void WarpContext::warn(const char* id, std::string message, uint32_t barrier) {
  cta.observer().violation({id, std::move(message), now(), own.slot, barrier, source(), true});
}

bool WarpContext::converged(std::string_view opcode) {
  if (lanes_ == kAllLanes || lanes_ == threads) return true;
  violate("TC2", fmt::format("{} with {} of 32 lanes: all lanes must execute it together", opcode, active_lanes()));
  return false;
}

void WarpContext::stale_lanes(uint32_t lanes, const LaneAgreement& agreement, Loc loc) {
  lanes_ = lanes, loc_ = loc;
  const int stale = std::popcount(lanes & ~agreement.lanes);
  violate("LN1",
          fmt::format("a ring's stage and parity are used by {} lane{} that did not step them: {} did, at {}; on "
                      "hardware they are registers of each lane",
                      stale, stale == 1 ? "" : "s",
                      agreement.lanes == 0 ? std::string("different lanes")
                      : std::popcount(agreement.lanes) == 1
                          ? fmt::format("lane {} alone", std::countr_zero(agreement.lanes))
                          : fmt::format("{} lanes alone", std::popcount(agreement.lanes)),
                      line_of(agreement.written)));
}

void WarpContext::release_early(SmemAddr waited) {
  const FaultInterceptor::Release release = faults_->early_release(warp, waited.offset());
  if (release.offset == 0) return;
  const uint32_t rank = cluster_ctarank(), leader = cta.tcgen05_group == 2 ? rank & ~1u : rank;
  const ClusterSmemAddr barrier{(release.clc ? 0 : leader) << kClusterRankShift | release.offset};
  if (!release.clc && leader == rank)
    perform(instructions::MbarrierArrive{{barrier.value}, Scope::cta});
  else
    perform(instructions::MbarrierArriveRemote{barrier, Scope::unstated});
}

// ---- scopes

namespace {
/// "at .cta", "without a scope".
const char* scope_text(Scope scope) {
  return scope == Scope::cta ? "at scope .cta" : "without a scope, which is .cta,";
}

}  // namespace

void WarpContext::check_release_scope(Scope scope, ClusterSmemAddr barrier, const char* instruction) {
  if (barrier.rank() == cluster_ctarank()) return;
  if (HazardChecker* h = hazards()) h->arrives_from_another_cta(thread(), barrier.rank(), barrier.offset());
  if (scope == Scope::cluster || (scope == Scope::unstated && !cta.observer().strict_scopes())) return;
  report_scope(
      fmt::format("{} {} on {} of CTA rank {}: those who wait there are in another CTA, and it orders nothing "
                  "that the warp did before for them",
                  instruction, scope_text(scope), barrier_text(cta.kernel(), barrier.offset()), barrier.rank()),
      barrier.offset());
}

void WarpContext::check_acquire_scope(Scope scope, SmemAddr barrier, const char* instruction) {
  if (scope == Scope::cluster || !cta.observer().strict_scopes()) return;
  HazardChecker* h = hazards();
  if (!h || !h->other_ctas_arrive(thread(), barrier.offset())) return;
  report_scope(
      fmt::format("{} {} on {}: threads of other CTAs arrive there, and it orders nothing of theirs before what "
                  "the warp does next",
                  instruction, scope_text(scope), barrier_text(cta.kernel(), barrier.offset())),
      barrier.offset());
}

void WarpContext::report_scope(std::string message, uint32_t barrier) {
  cta.observer().violation(
      {"SC1", std::move(message), now(), own.slot, barrier, source(), !cta.observer().strict_scopes()});
}

// ---- what operands must be

void WarpContext::forget(CtaMask ranks, uint32_t offset, uint64_t bytes) {
  for (uint32_t r = 0; r < cta.cluster_ctas(); ++r)
    if (ranks.bits >> r & 1) cta.gpu().cta(cta.peer_slot(r)).smem.forget(offset, bytes);
}

bool WarpContext::own_window(SmemAddr address, const char* what) {
  if (address.value >> kClusterRankShift == cluster_ctarank()) return true;
  violate("MB3",
          fmt::format("{} at shared address {:#x}: .shared::cta names the own CTA only", what, address.value));
  return false;
}

bool WarpContext::cluster_window(SmemAddr address, const char* what) {
  const uint32_t rank = address.value >> kClusterRankShift, ctas = cta.cluster_ctas();
  if (rank < ctas) return true;
  violate("MB3", fmt::format("{} at shared address {:#x}: of CTA {} of the cluster, which has {}", what,
                             address.value, rank, ctas));
  return false;
}

bool WarpContext::signals_at_destination(SmemAddr to, SmemAddr barrier, bool multicast, const char* what) {
  if (!cluster_window(barrier, what)) return false;
  if (multicast || rank_of(barrier) == rank_of(to)) return true;
  violate("MB3",
          fmt::format("{}'s mbarrier at shared address {:#x}, of CTA {} of the cluster: it must be in the CTA "
                      "that is loaded to, {}",
                      what, barrier.value, rank_of(barrier), rank_of(to)));
  return false;
}

bool WarpContext::in_shared(SmemAddr address, uint32_t bytes, uint32_t alignment, const char* what) {
  if (!own_window(address, what)) return false;
  const uint32_t offset = address.offset();
  if (offset % alignment != 0) {
    violate("SM2", fmt::format("{} at shared address {:#x}: must be {}-byte aligned", what, offset, alignment));
    return false;
  }
  if (own.smem.contains(offset, bytes)) return true;
  violate("SM1",
          fmt::format("{} of {} bytes at shared address {:#x}: outside the CTA's shared memory (ends at {:#x})",
                      what, bytes, offset, own.smem.end()));
  return false;
}

namespace {
/// By the name of the instruction: "ld.acquire.gpu", "atom.global.cas", "tensormap.replace".
void record_access(models::AccessMap& accesses, GlobalAddr address, uint32_t bytes, std::string_view what,
                   bool stated_strong) {
  const bool both = what.starts_with("atom") || what.starts_with("red"),
             store = what.starts_with("st") || what.starts_with("tensormap."),
             strong =
                 stated_strong || both || what.find("acquire") != what.npos || what.find("release") != what.npos;
  accesses.add(address.value, bytes, both || !store, both || store, strong);
}
}  // namespace

namespace {

/// What an address may be that no allocation holds.
std::string beside_text(const models::MemorySystem& memory, GlobalAddr address, uint32_t bytes) {
  const std::string_view hint = address_hint(address.value);
  return hint.empty() ? beside_tensors(memory, address, bytes) : std::string(hint);
}

}  // namespace

uint8_t* WarpContext::global_bytes(GlobalAddr address, uint32_t bytes, int lane, const char* what, bool strong,
                                   uint32_t alignment) {
  if (alignment == 0) alignment = bytes;
  if (address.value % alignment != 0) {
    violate("GM2",
            fmt::format("{} at {:#x} by lane {}: must be {}-byte aligned", what, address.value, lane, alignment));
    return nullptr;
  }
  uint8_t* data = cta.gpu().memory().data(address, bytes);
  if (!data)
    violate("GM1", fmt::format("{} of {} bytes at {:#x} by lane {}, which no allocation holds{}", what, bytes,
                               address.value, lane, beside_text(cta.gpu().memory(), address, bytes)));
  else if (models::AccessMap* accesses = cta.gpu().memory().accesses())
    record_access(*accesses, address, bytes, what, strong);
  return data;
}

void WarpContext::check_prerequisites(GlobalAddr address, const char* what) {
  if (cta.gpu().launches() == 1) {
    HazardChecker* h = cta.observer().launch_ahead() ? hazards() : nullptr;
    if (h && !h->knows_prerequisites(thread())) cta.observer().reads_early(what, loc());
    return;
  }
  const LaunchList& launches = cta.launches();
  const auto writer = cta.gpu().unfinished_writer(address, cta.launch());
  if (!writer) {
    // In this run it has completed in time.
    HazardChecker* h = hazards();
    const auto ahead = h ? cta.gpu().programmatic_writer(address, cta.launch()) : std::nullopt;
    if (ahead && !h->knows_prerequisites(thread()))
      violate("GD1", fmt::format(
                         "{} by {} from the output of {}, which happens to have completed: nothing orders the read "
                         "behind a griddepcontrol.wait",
                         what, launches.name(cta.launch()), launches.name(*ahead)));
    return;
  }
  const std::string read =
      fmt::format("{} by {} from the output of {}", what, launches.name(cta.launch()), launches.name(*writer));
  if (cta.gpu().order().before(*writer, cta.launch()))
    violate("GD1", read + ", which has not completed: only what follows griddepcontrol.wait may read it");
  else
    violate("GD2", read + ", a launch of another stream that no event orders before it");
}

bool WarpContext::check_group(int cta_group, const char* instruction) {
  const auto wrong = [&](std::string text) {
    violate("TC8", std::move(text));
    return false;
  };
  if (cta_group != 1 && cta_group != 2)
    return wrong(fmt::format("{}.cta_group::{}: allowed are 1 and 2", instruction, cta_group));
  if (cta_group == 2 && (cluster_ctarank() ^ 1) >= cta.cluster_ctas())
    return wrong(fmt::format("{}.cta_group::2 by CTA rank {} in a cluster of {}: it has no peer", instruction,
                             cluster_ctarank(), cta.cluster_ctas()));
  if (cta_group == 2 && cta.gpu().clusters().exited(own.slot, cluster_ctarank() ^ 1))
    return wrong(fmt::format("{}.cta_group::2 after the peer CTA has exited", instruction));
  if (cta.tcgen05_group == 0) cta.tcgen05_group = cta_group;
  if (cta.tcgen05_group != cta_group)
    return wrong(fmt::format("{}.cta_group::{} in a kernel that uses cta_group::{}", instruction, cta_group,
                             cta.tcgen05_group));
  return true;
}

Footprints::Id WarpContext::footprint(HazardChecker& checker, const LaneArray<SmemAddr, 1>& addresses, int lanes,
                                      uint32_t bytes) const {
  uint64_t key = 0xcbf29ce484222325u ^ bytes;
  for (int lane = 0; lane < lanes; ++lane)
    if (is_active(lane)) key = (key ^ addresses[lane][0].offset()) * 0x100000001b3u, key ^= key >> 29;
  return checker.smem_sets().intern(key | uint64_t{1} << 62, [&] {
    std::vector<Footprints::Interval> all;
    for (int lane = 0; lane < lanes; ++lane)
      if (is_active(lane)) {
        const uint32_t at = addresses[lane][0].offset();
        all.push_back({at, at + bytes});
      }
    return all;
  });
}

models::Cycles WarpContext::access_shared(uint32_t bytes_of_lane, double issue_cycles) {
  charge(issue_cycles);
  settle();
  const double wavefronts = double(bytes_of_lane) * active_lanes() / double(profile.smem.bytes_per_cycle);
  models::SharedMemoryPort::Passage passage = sm.shared_memory.pass(double(models::now()), std::ceil(wavefronts));
  while (passage.left > 0) {
    warp.pass(models::Cycles(std::ceil(passage.end)) - models::now());
    passage = sm.shared_memory.pass(double(models::now()), passage.left);
  }
  const auto through = models::Cycles(std::ceil(passage.end));
  warp.ahead += double(through - models::now());
  return through;
}

models::Cycles WarpContext::released_by_cta() const {
  models::Cycles there = cta.gpu().clusters().arrivals_landed(own.slot);
  for (const auto& other : cta.warps()) there = std::max(there, other->stores_visible);
  return there;
}

// ---- trace points

uint64_t WarpContext::flow_of_open_span() {
  if (warp.open_spans.empty()) return 0;
  traces::Span& innermost = warp.open_spans.back();
  if (innermost.flow_out == 0) innermost.flow_out = cta.observer().new_flow();
  return innermost.flow_out;
}

namespace {

/// Records that each of so many warps has room for: sm100-run's --trace-capacity, as far as the launch's records do
/// not take too many lines of the model's L2.  A warp that has filled its room begins again.
uint64_t room_for_records(uint64_t warps) {
  constexpr uint64_t kMost = 8192, kFewest = 64, kBytesOfAll = uint64_t{256} << 20;
  return std::clamp(kBytesOfAll / (warps * sizeof(DeviceTraceRecord)), kFewest, kMost);
}

}  // namespace

void WarpContext::charge_recorder(double first) {
  trace_begin_cycles_ = profile.trace.begin;
  trace_end_cycles_ = profile.trace.end;
  trace_first_cycles_ = first;
  trace_store_cycles_ = profile.trace.store_cycles;
  if (trace_store_cycles_ <= 0) return;
  const Dim3 grid = cta.kernel().grid;
  const uint64_t of_cta = uint64_t(cta.kernel().warps), warps = of_cta * grid.x * grid.y * grid.z;
  trace_room_ = room_for_records(warps);
  trace_records_ =
      cta.observer().recorder_records(cta.launch(), uint64_t(cta.grid_id()) * of_cta + uint64_t(warp.index), warps,
                                      trace_room_ * sizeof(DeviceTraceRecord));
}

void WarpContext::store_trace_record(int words) {
  if (trace_store_cycles_ <= 0) return;
  settle();  // who comes first is decided when all that goes before has taken its time
  if (sm.tensor_pipe.free > double(issue_cycle())) charge(words * profile.trace.beside_wgmma_cycles);
  spend();
  // The warp waits for its turn, not until its stores have left.
  models::SharedMemoryPort::Passage passage{0, 0, words * trace_store_cycles_};
  for (;;) {
    passage = sm.shared_memory.pass_one_lane(double(models::now()), passage.left, profile.trace.store_part);
    if (passage.left <= 0) break;
    warp.pass(models::Cycles(std::ceil(passage.end)) - models::now());
  }
  charge(std::max(0.0, passage.begin - double(models::now())));
  const GlobalAddr record = trace_records_ + trace_recorded_++ % trace_room_ * sizeof(DeviceTraceRecord);
  for (int word = 0; word < words; ++word) instructions::store_unseen(*this, record + 16u * uint64_t(word), 16);
}

namespace {

/// Spans that follow what is before them in straight-line code, which the compiler has unrolled: a strip's load,
/// its way through shared memory, its store.
bool is_inline(TraceEvent event) {
  switch (event) {
    case TraceEvent::mma_commit:
    case TraceEvent::tmem_load:
    case TraceEvent::smem_read:
    case TraceEvent::smem_write:
    case TraceEvent::store_issue:
    case TraceEvent::store_wait: return true;
    default: return false;
  }
}

}  // namespace

void WarpContext::trace_begin(TraceEvent event, const TraceArgs& args) {
  if (cta.observer().recorder()) begin_span(event, args);
  warp.trace_point_begins(event, args);
  charge((is_inline(event) ? issue.control_inline : issue.control) + trace_begin_cycles_);
  store_trace_record(2);
}

void WarpContext::trace_end() {
  if (cta.observer().recorder()) end_span();
  warp.trace_point_ends();
  charge(trace_end_cycles_ + std::exchange(trace_first_cycles_, 0));
  store_trace_record(1);
}

void WarpContext::begin_span(TraceEvent event, const TraceArgs& args) {
  using traces::SpanKind;
  static_assert(int(TraceEvent::map_edit) == int(SpanKind::map_edit), "role span kinds follow TraceEvent");
  traces::Span span{.begin = issue_cycle(), .track = warp.track, .kind = SpanKind(event)};
  if (args.barrier.value != 0)
    if (const BarrierName name = barrier_name(cta.kernel(), args.barrier.offset()); name.array)
      span.args.pipeline = cta.observer().array_name(cta.kernel(), *name.array);
  span.args.stage = int16_t(args.stage);
  span.args.phase = args.phase;
  span.args.tile_m = args.tile_m;
  span.args.tile_n = args.tile_n;
  span.args.k = args.k;
  span.args.bytes = args.bytes;
  warp.open_spans.push_back(span);
}

void WarpContext::end_span() {
  traces::Span span = warp.open_spans.back();
  warp.open_spans.pop_back();
  span.end = issue_cycle();
  cta.observer().recorder()->span(span);
}

void WarpContext::unwritten_read(SmemAddr address, uint32_t bytes) {
  if (HazardChecker* h = hazards()) h->unwritten_looking_read(thread(), address.offset(), bytes);
}

}  // namespace sm100::sim
