// SPDX-License-Identifier: Apache-2.0
/// Dynamic scheduler on cluster launch control (PTX 9.7.13.17): a running cluster cancels clusters that
/// have not been launched yet and takes over their tiles.
///
/// One scheduler warp per cluster requests; every other warp decodes the same response itself.  Request k
/// uses ring stage k mod Q: full[s] gets one arrive.expect_tx(16) and the 16 bytes of the response, empty[s]
/// one arrival of every thread that decoded it.  The throttle (a second ring, load warp -> scheduler) keeps a
/// cluster from cancelling tiles faster than it starts them.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "kernels/scheduler/tile_grid.h"
#include "kernels/scheduler/work_iterator.h"

namespace sm100 {

/// Shared-memory addresses of the scheduler.
struct ClcStorage {
  RingBarriers clc;       ///< clc_full, clc_empty
  RingBarriers throttle;  ///< throttle_full, throttle_empty
  SmemAddr response;      ///< Q responses of 16 bytes
};

inline constexpr uint32_t kClcResponseBytes = 16;

template <Isa I>
class ClcScheduler {
  using Ring = ProducerConsumerPipeline<I>;

 public:
  static constexpr bool kRequests = true;  ///< needs a scheduler warp

  /// @param stages  responses in flight
  SM100_HD ClcScheduler(I& isa, const ClcStorage& storage, int stages, const TileGrid& grid)
      : isa_(isa), storage_(storage), stages_(stages), grid_(grid) {}

  /// Of every role but the scheduler.
  class Walk {
   public:
    SM100_HD explicit Walk(ClcScheduler& scheduler)
        : scheduler_(scheduler), clc_(scheduler.clc_ring()), throttle_(scheduler.throttle_ring()) {}

    SM100_KERNEL WorkTile first() { return scheduler_.own_tile(); }
    SM100_KERNEL WorkTile fetch(Loc loc) { return scheduler_.fetch(clc_, loc); }
    /// Of the cluster's first CTA only.
    SM100_KERNEL void throttle_signal(Loc loc) {
      if (scheduler_.isa_.cluster_ctarank() == 0) throttle_.producer_signal_and_step(loc);
    }

   private:
    ClcScheduler& scheduler_;
    Ring clc_, throttle_;
  };
  SM100_KERNEL WorkIterator<Walk> work_iterator() { return WorkIterator<Walk>{Walk{*this}}; }

  /// Of the scheduler warp: the same walk, with a request before each fetch.  It never requests after a failed
  /// response (PTX: undefined), because the walk ends there.
  class RequestIterator {
   public:
    SM100_KERNEL explicit RequestIterator(ClcScheduler& scheduler)
        : scheduler_(scheduler),
          request_(scheduler.clc_ring()),
          fetch_(scheduler.clc_ring()),
          throttle_(scheduler.throttle_ring()),
          current_(scheduler.own_tile()) {}

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
    ClcScheduler& scheduler_;
    Ring request_, fetch_, throttle_;
    WorkTile current_;
  };
  SM100_KERNEL RequestIterator request_iterator() { return RequestIterator{*this}; }

 private:
  SM100_HD Ring clc_ring() { return {isa_, storage_.clc, stages_, Scope::cluster}; }
  SM100_HD Ring throttle_ring() { return {isa_, storage_.throttle, stages_}; }
  SM100_HD SmemAddr response(int stage) const { return storage_.response + kClcResponseBytes * uint32_t(stage); }

  /// The first tile is that of the CTA's own block index.
  SM100_KERNEL WorkTile own_tile() { return grid_.tile_of(isa_, isa_.ctaid(), true); }

  /// Waits for the next response, decodes it and releases its slot; all lanes.
  SM100_KERNEL WorkTile fetch(Ring& clc, Loc loc) {
    const int stage = clc.consumer_wait(loc);
    TraceSpan span{isa_, TraceEvent::clc_fetch, {.stage = stage}};
    const ClcResponse answer = isa_.ld_shared_b128(response(stage), loc);
    const bool valid = isa_.clusterlaunchcontrol_query_cancel_is_canceled(answer);
    // The id of a failed response is undefined: decode it only under the predicate.
    Dim3 ctaid = valid ? isa_.clusterlaunchcontrol_query_cancel_get_first_ctaid(answer) : Dim3{};
    ctaid = grid_.cta_of(ctaid, isa_.cluster_ctarank());
    // Our generic read must be ordered before the next response, which the CLC unit writes through the async
    // proxy.
    isa_.fence_proxy_async_shared_cta();
    // CTA 0 owns the ring.  No scope, as in CUTLASS: we only read, and a release at cluster scope makes the warp
    // wait for all its writes (docs/accuracy-h200.md, section 2).
    isa_.mbarrier_arrive(isa_.mapa(clc.empty(stage), 0), Scope::unstated, loc);
    clc.consumer_step();
    return grid_.tile_of(isa_, ctaid, valid);
  }

  /// Requests the next tile; scheduler warp only.
  SM100_KERNEL void request(Ring& clc, Loc loc) {
    const int stage = clc.producer_acquire(loc);
    TraceSpan span{isa_, TraceEvent::clc_request, {.stage = stage}};
    // Lane i arms CTA i's barrier: the response is multicast to the cluster and signals each CTA's own
    // barrier.
    isa_.lanes_below(grid_.cluster_size(), [&] {
      isa_.mbarrier_arrive_expect_tx(isa_.mapa(clc.full(stage), isa_.laneid()), kClcResponseBytes, Scope::cluster,
                                     loc);
    });
    isa_.elected([&] {
      if (grid_.cluster_size() > 1)
        isa_.clusterlaunchcontrol_try_cancel_multicast(response(stage), clc.full(stage), loc);
      else
        isa_.clusterlaunchcontrol_try_cancel(response(stage), clc.full(stage), loc);
    });
    clc.producer_step();
  }

  I& isa_;
  ClcStorage storage_;
  int stages_;
  TileGrid grid_;
};

}  // namespace sm100
