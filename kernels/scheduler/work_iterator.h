// SPDX-License-Identifier: Apache-2.0
/// Walks over the work tiles of a CTA, one iterator per role.
///
///   for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) { ... work.current() ... }
///
/// next() advances after the work: fetch, assign, step.  A role may call prefetch() at the start of the body
/// to fetch the next tile before its work (the MMA warp does); the load warp must not, because the scheduler
/// asks for tile i + 1 only after the load warp has signalled the start of tile i: it would wait for itself.
#pragma once

#include "kernels/scheduler/tile_scheduler.h"

namespace sm100 {

template <Isa I, class Config>
class WorkIterator {
 public:
  SM100_KERNEL explicit WorkIterator(TileScheduler<I, Config>& scheduler)
      : scheduler_(scheduler),
        clc_(scheduler.clc_ring()),
        throttle_(scheduler.throttle_ring()),
        current_(scheduler.initial_tile()),
        static_index_(scheduler.cfg_.static_scheduler ? scheduler.first_static() : 0) {}

  SM100_HD bool has_work() const { return current_.valid; }
  SM100_HD const WorkTile& current() const { return current_; }

  /// Load warp of the cluster's first CTA, at the start of each tile: lets the scheduler ask for the next
  /// one.
  SM100_KERNEL void throttle_signal(Loc loc = Loc::current()) {
    if (scheduler_.cfg_.clc_stages > 0 && scheduler_.isa_.cluster_ctarank() == 0)
      throttle_.producer_signal_and_step(loc);
  }

  /// Fetches the next tile now; next() will only assign it.
  SM100_KERNEL void prefetch(Loc loc = Loc::current()) {
    prefetched_ = fetch(loc);
    has_prefetched_ = true;
  }

  SM100_KERNEL void next(Loc loc = Loc::current()) {
    current_ = has_prefetched_ ? prefetched_ : fetch(loc);
    has_prefetched_ = false;
  }

 private:
  SM100_KERNEL WorkTile fetch(Loc loc) {
    if (scheduler_.cfg_.static_scheduler) {
      static_index_ += scheduler_.static_stride();
      return scheduler_.static_tile(static_index_);
    }
    // Without CLC there is one wave of clusters per launch slot: the hardware launches the rest of the grid.
    return scheduler_.cfg_.clc_stages > 0 ? scheduler_.fetch(clc_, loc) : WorkTile{};
  }

  TileScheduler<I, Config>& scheduler_;
  ProducerConsumerPipeline<I> clc_, throttle_;
  WorkTile current_, prefetched_;
  bool has_prefetched_ = false;
  uint32_t static_index_;
};

/// Scheduler warp: per tile it lets the throttle through, requests the next tile and fetches the answer like
/// everybody else.  It never requests after a failed response (PTX: undefined), because the walk ends there.
template <Isa I, class Config>
class SchedulerWorkIterator {
 public:
  SM100_HD explicit SchedulerWorkIterator(TileScheduler<I, Config>& scheduler)
      : scheduler_(scheduler),
        request_(scheduler.clc_ring()),
        fetch_(scheduler.clc_ring()),
        throttle_(scheduler.throttle_ring()),
        current_(scheduler.initial_tile()) {}

  SM100_HD bool has_work() const { return current_.valid; }

  /// Waits for the load warp to have begun this tile, then asks for the next.
  SM100_KERNEL void signal_and_request(Loc loc = Loc::current()) {
    throttle_.consumer_signal_and_step(loc);
    scheduler_.request(request_, loc);
  }

  SM100_KERNEL void next(Loc loc = Loc::current()) { current_ = scheduler_.fetch(fetch_, loc); }

  /// All consumers have read all responses: nothing will arrive at this CTA's CLC barriers any more.
  SM100_KERNEL void drain(Loc loc = Loc::current()) { request_.producer_drain(loc); }

 private:
  TileScheduler<I, Config>& scheduler_;
  ProducerConsumerPipeline<I> request_, fetch_, throttle_;
  WorkTile current_;
};

}  // namespace sm100
