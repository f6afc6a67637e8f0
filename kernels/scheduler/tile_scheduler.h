// SPDX-License-Identifier: Apache-2.0
/// Dynamic tile scheduler on cluster launch control (PTX 9.7.13.17): a running cluster cancels clusters that
/// have not been launched yet and takes over their tiles.
///
/// One scheduler warp per cluster requests; every other warp decodes the same response itself.  Request k
/// uses ring stage k mod Q: full[s] gets one arrive.expect_tx(16) and the 16 bytes of the response, empty[s]
/// one arrival of every thread that decoded it.  The throttle (a second ring, load warp -> scheduler) keeps a
/// cluster from cancelling tiles faster than it starts them.
///
/// With cfg.static_scheduler nothing is requested: cluster w of the W that were launched computes the tiles w, w + W ...,
/// and every warp counts for itself.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "kernels/scheduler/rasterization.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

/// Shared-memory addresses of the scheduler.
struct SchedulerStorage {
  RingBarriers clc;       ///< clc_full, clc_empty
  RingBarriers throttle;  ///< throttle_full, throttle_empty
  SmemAddr response;      ///< Q responses of 16 bytes
};

/// What a scheduler must know of the launch.
struct TileGrid {
  Dim3 cluster_grid;
  int k_tiles = 0;
  int k_tiles_per_split = 0;  ///< split-K: blockIdx.z = s begins at k tile s * k_tiles_per_split
};

inline constexpr uint32_t kClcResponseBytes = 16;

template <Isa I, class Config>
class WorkIterator;
template <Isa I, class Config>
class SchedulerWorkIterator;

template <Isa I, class Config>
class TileScheduler {
 public:
  SM100_HD TileScheduler(I& isa, const Config& cfg, const SchedulerStorage& storage, const TileGrid& grid)
      : isa_(isa), cfg_(cfg), storage_(storage), grid_(grid) {}

  /// The first tile is the CTA's own block index.
  SM100_KERNEL WorkTile initial_tile() {
    return cfg_.static_scheduler ? static_tile(first_static()) : tile_of(isa_.ctaid(), true);
  }

  /// For every role but the scheduler.  Starts at the initial tile.
  SM100_KERNEL WorkIterator<I, Config> work_iterator() { return WorkIterator<I, Config>{*this}; }
  /// For the scheduler warp: the same walk, with a request before each fetch.
  SM100_KERNEL SchedulerWorkIterator<I, Config> scheduler_iterator() {
    return SchedulerWorkIterator<I, Config>{*this};
  }

 private:
  friend class WorkIterator<I, Config>;
  friend class SchedulerWorkIterator<I, Config>;

  using Pipeline = ProducerConsumerPipeline<I>;

  /// Static: clusters lie along x, so the first one's index and their number follow from the launch.
  SM100_KERNEL uint32_t first_static() { return isa_.ctaid().x / uint32_t(cfg_.cluster_m); }
  SM100_KERNEL uint32_t static_stride() { return isa_.nctaid().x / uint32_t(cfg_.cluster_m); }
  SM100_KERNEL WorkTile static_tile(uint32_t cluster) {
    const Dim3 grid = grid_.cluster_grid;
    if (cluster >= grid.x * grid.y * grid.z) return {};
    return tile_of(
        with_own_place({cluster % grid.x * uint32_t(cfg_.cluster_m),
                        cluster / grid.x % grid.y * uint32_t(cfg_.cluster_n), cluster / grid.x / grid.y}),
        true);
  }
  /// From a cluster's first CTA to the one in our place.
  SM100_KERNEL Dim3 with_own_place(Dim3 first) {
    const uint32_t rank = isa_.cluster_ctarank();
    return {first.x + rank % uint32_t(cfg_.cluster_m), first.y + rank / uint32_t(cfg_.cluster_m), first.z};
  }

  SM100_KERNEL Pipeline clc_ring() { return {isa_, storage_.clc, cfg_.clc_stages, Scope::cluster}; }
  SM100_KERNEL Pipeline throttle_ring() { return {isa_, storage_.throttle, cfg_.clc_stages}; }

  SM100_KERNEL WorkTile tile_of(Dim3 ctaid, bool valid) const {
    const TileCoord t =
        rasterize(ctaid, grid_.cluster_grid, cfg_.raster_order, cfg_.block_swizzle, cfg_.cluster_m, cfg_.cluster_n);
    const int begin = int(ctaid.z) * grid_.k_tiles_per_split, left = grid_.k_tiles - begin;
    const bool last = left <= grid_.k_tiles_per_split;
    return {.m = t.m,
            .n = t.n,
            .k_begin = begin,
            .k_count = last ? left : grid_.k_tiles_per_split,
            .last_split = last,
            .valid = valid};
  }

  /// Waits for the next response, decodes it and releases its slot; all lanes.
  SM100_KERNEL WorkTile fetch(Pipeline& clc, Loc loc) {
    const int stage = clc.consumer_wait(loc);
    TraceSpan span{isa_, TraceEvent::clc_fetch, {.stage = stage}};
    const ClcResponse response = isa_.ld_shared_b128(storage_.response + kClcResponseBytes * uint32_t(stage), loc);
    const bool valid = isa_.clusterlaunchcontrol_query_cancel_is_canceled(response);
    // The id of a failed response is undefined: decode it only under the predicate.
    Dim3 ctaid = valid ? isa_.clusterlaunchcontrol_query_cancel_get_first_ctaid(response) : Dim3{};
    ctaid = with_own_place(ctaid);
    // Our generic read must be ordered before the next response, which the CLC unit writes through the async
    // proxy.
    isa_.fence_proxy_async_shared_cta();
    // CTA 0 owns the ring.  Scope cta as in CUTLASS: we only read, and a release at cluster scope makes the warp wait for
    // all its writes (docs/accuracy-h200.md, section 2).
    isa_.mbarrier_arrive(isa_.mapa(clc.empty(stage), 0), Scope::cta, loc);
    clc.consumer_step();
    return tile_of(ctaid, valid);
  }

  /// Requests the next tile; scheduler warp only.
  SM100_KERNEL void request(Pipeline& clc, Loc loc) {
    const int stage = clc.producer_acquire(loc);
    TraceSpan span{isa_, TraceEvent::clc_request, {.stage = stage}};
    // Lane i arms CTA i's barrier: the response is multicast to the cluster and signals each CTA's own
    // barrier.
    const int ctas = cfg_.cluster_m * cfg_.cluster_n;
    isa_.lanes_below(ctas, [&] {
      isa_.mbarrier_arrive_expect_tx(isa_.mapa(clc.full(stage), isa_.laneid()), kClcResponseBytes, Scope::cluster,
                                     loc);
    });
    isa_.elected([&] {
      const SmemAddr response = storage_.response + kClcResponseBytes * uint32_t(stage);
      if (ctas > 1)
        isa_.clusterlaunchcontrol_try_cancel_multicast(response, clc.full(stage), loc);
      else
        isa_.clusterlaunchcontrol_try_cancel(response, clc.full(stage), loc);
    });
    clc.producer_step();
  }

  I& isa_;
  const Config& cfg_;
  SchedulerStorage storage_;
  TileGrid grid_;
};

}  // namespace sm100

#include "kernels/scheduler/work_iterator.h"
