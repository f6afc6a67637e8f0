// SPDX-License-Identifier: Apache-2.0
// Arrivals on mbarriers and the bytes that they count, on the model.
#include "kernels/isa/instructions/mbarrier_state.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using sim::HazardChecker;
using sim::WarpContext;

namespace {

/// What goes along as Source::op with arrivals of the warp on a barrier of CTA `rank`: what the warp knows by then.
uint32_t releases(WarpContext& w, uint32_t rank, uint32_t barrier) {
  HazardChecker* h = w.hazards();
  return h ? h->release(w.thread(), rank, barrier) : 0;
}

/// Lanes arrive at barriers of any CTA.
uint32_t releases_later(WarpContext& w, const LaneArray<ClusterSmemAddr, 1>& barriers, Scope scope,
                        const char* instruction) {
  for (int lane = 0; lane < kWarpLanes; ++lane)
    if (w.is_active(lane)) w.check_release_scope(scope, barriers[lane][0], instruction);
  HazardChecker* h = w.hazards();
  if (!h) return 0;
  for (int lane = 0; lane < kWarpLanes; ++lane)
    if (w.is_active(lane)) h->uses_barrier(w.thread(), barriers[lane][0].rank(), barriers[lane][0].offset(), false);
  return h->release_later(w.thread());
}

}  // namespace

void MbarrierArrive::execute(WarpContext& w) const {
  w.count_arrival(barrier);
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  if (!w.own_window(barrier, "mbarrier.arrive")) return;
  models::Source by = w.source();
  by.op = releases(w, w.cluster_ctarank(), barrier.offset());
  w.own.mbarrier.arrive(barrier.offset(), uint32_t(w.active_lanes()), by);
}

void MbarrierArriveRemote::execute(WarpContext& w) const {
  w.count_arrival({barrier.offset()});
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  w.check_release_scope(scope, barrier, "mbarrier.arrive");
  models::Source by = w.source();
  if (HazardChecker* h = w.hazards()) {
    h->uses_barrier(w.thread(), barrier.rank(), barrier.offset(), false);
    by.op = h->release_later(w.thread());
  }
  w.cta.gpu().clusters().arrive(w.own.slot, barrier, uint32_t(w.active_lanes()), by);
}

void MbarrierArriveLanes::execute(WarpContext& w) const {
  w.count_arrival({barriers[w.first_active_lane()][0].offset()});
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  const uint32_t op = releases_later(w, barriers, scope, "mbarrier.arrive");
  w.for_each_thread([&](models::Source by) {
    by.op = op;
    w.cta.gpu().clusters().arrive(w.own.slot, barriers[by.lane][0], 1, by);
  });
}

void MbarrierArriveExpectTx::execute(WarpContext& w) const {
  w.count_arrival(barrier);
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  if (!w.own_window(barrier, "mbarrier.arrive.expect_tx")) return;
  const uint32_t op = releases(w, w.cluster_ctarank(), barrier.offset());
  w.for_each_thread([&](models::Source by) {
    by.op = op;
    w.own.mbarrier.arrive_expect_tx(barrier.offset(), bytes, by);
  });
}

void MbarrierArriveExpectTxLanes::execute(WarpContext& w) const {
  w.count_arrival({barriers[w.first_active_lane()][0].offset()});
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  const uint32_t op = releases_later(w, barriers, scope, "mbarrier.arrive.expect_tx");
  w.for_each_thread([&](models::Source by) {
    by.op = op;
    w.cta.gpu().clusters().arrive_expect_tx(w.own.slot, barriers[by.lane][0], bytes, by);
  });
}

namespace {

/// An arrival of each thread, with the states that they return.
LaneArray<MbarrierToken, 1> arrive_by_threads(WarpContext& w, SmemAddr barrier, const MbarrierArrival& arrival,
                                              const char* instruction) {
  LaneArray<MbarrierToken, 1> states{};
  w.count_arrival(barrier);
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  if (!w.own_window(barrier, instruction)) return states;
  const uint32_t op = releases(w, w.cluster_ctarank(), barrier.offset());
  w.for_each_thread([&](models::Source by) {
    by.op = op;
    states[by.lane][0] = w.own.mbarrier.arrive_once(barrier.offset(), arrival, by);
  });
  return states;
}

void arrive_remote_by_threads(WarpContext& w, ClusterSmemAddr barrier, const MbarrierArrival& arrival, Scope scope,
                              const char* instruction) {
  w.count_arrival({barrier.offset()});
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  w.check_release_scope(scope, barrier, instruction);
  uint32_t op = 0;
  if (HazardChecker* h = w.hazards()) {
    h->uses_barrier(w.thread(), barrier.rank(), barrier.offset(), false);
    op = h->release_later(w.thread());
  }
  w.for_each_thread([&](models::Source by) {
    by.op = op;
    w.cta.gpu().clusters().arrive_once(w.own.slot, barrier, arrival, by);
  });
}

}  // namespace

void MbarrierArriveCountRemote::execute(WarpContext& w) const {
  arrive_remote_by_threads(w, barrier, {.count = count}, scope, "mbarrier.arrive");
}
LaneArray<MbarrierToken, 1> MbarrierArriveState::execute(WarpContext& w) const {
  return arrive_by_threads(w, barrier, {.count = count}, "mbarrier.arrive");
}
LaneArray<MbarrierToken, 1> MbarrierArriveExpectTxState::execute(WarpContext& w) const {
  return arrive_by_threads(w, barrier, {.bytes = bytes}, "mbarrier.arrive.expect_tx");
}
LaneArray<MbarrierToken, 1> MbarrierArriveNoComplete::execute(WarpContext& w) const {
  return arrive_by_threads(w, barrier, {.count = count, .no_complete = true}, "mbarrier.arrive.noComplete");
}
LaneArray<MbarrierToken, 1> MbarrierArriveDrop::execute(WarpContext& w) const {
  return arrive_by_threads(w, barrier, {.count = count, .drop = true}, "mbarrier.arrive_drop");
}
void MbarrierArriveDropRemote::execute(WarpContext& w) const {
  arrive_remote_by_threads(w, barrier, {.count = count, .drop = true}, scope, "mbarrier.arrive_drop");
}
LaneArray<MbarrierToken, 1> MbarrierArriveDropExpectTx::execute(WarpContext& w) const {
  return arrive_by_threads(w, barrier, {.bytes = bytes, .drop = true}, "mbarrier.arrive_drop.expect_tx");
}
void MbarrierArriveDropExpectTxRemote::execute(WarpContext& w) const {
  arrive_remote_by_threads(w, barrier, {.bytes = bytes, .drop = true}, scope, "mbarrier.arrive_drop.expect_tx");
}
LaneArray<MbarrierToken, 1> MbarrierArriveDropNoComplete::execute(WarpContext& w) const {
  return arrive_by_threads(w, barrier, {.count = count, .drop = true, .no_complete = true},
                           "mbarrier.arrive_drop.noComplete");
}

LaneArray<uint32_t, 1> MbarrierPendingCount::execute(WarpContext& w) const {
  w.charge(w.issue.alu);
  LaneArray<uint32_t, 1> counts{};
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    if (!by_no_complete(states[lane][0])) {
      w.violate("MB7", "mbarrier.pending_count of a state that no .noComplete arrival has returned");
      return counts;
    }
    counts[lane][0] = pending_count(states[lane][0]);
  }
  return counts;
}

// ---- bytes

namespace {

/// By each thread, on a barrier of the own CTA: relaxed, hands on nothing.
void count_bytes(WarpContext& w, SmemAddr barrier, const char* instruction, uint32_t bytes,
                 void (models::Mbarrier::*apply)(uint32_t, uint32_t, const models::Source&)) {
  w.charge(w.issue.mbarrier_arrive);  // assumed as long as an arrival
  w.settle();
  if (!w.own_window(barrier, instruction)) return;
  if (HazardChecker* h = w.hazards()) h->uses_barrier(w.thread(), w.cluster_ctarank(), barrier.offset(), false);
  w.for_each_thread([&](const models::Source& by) { (w.own.mbarrier.*apply)(barrier.offset(), bytes, by); });
}
/// The same of any CTA of the cluster.
void count_bytes(WarpContext& w, ClusterSmemAddr barrier, uint32_t bytes,
                 void (models::ClusterNet::*apply)(int, ClusterSmemAddr, uint32_t, const models::Source&)) {
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  if (HazardChecker* h = w.hazards()) h->uses_barrier(w.thread(), barrier.rank(), barrier.offset(), false);
  w.for_each_thread(
      [&](const models::Source& by) { (w.cta.gpu().clusters().*apply)(w.own.slot, barrier, bytes, by); });
}

}  // namespace

void MbarrierExpectTx::execute(WarpContext& w) const {
  count_bytes(w, barrier, "mbarrier.expect_tx", bytes, &models::Mbarrier::expect_tx);
}
void MbarrierExpectTxRemote::execute(WarpContext& w) const {
  count_bytes(w, barrier, bytes, &models::ClusterNet::expect_tx);
}
void MbarrierCompleteTx::execute(WarpContext& w) const {
  count_bytes(w, barrier, "mbarrier.complete_tx", bytes, &models::Mbarrier::complete_tx);
}
void MbarrierCompleteTxRemote::execute(WarpContext& w) const {
  count_bytes(w, barrier, bytes, &models::ClusterNet::complete_tx);
}

}  // namespace sm100::instructions
