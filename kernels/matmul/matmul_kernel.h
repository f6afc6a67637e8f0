// SPDX-License-Identifier: Apache-2.0
/// The dense matmul kernel: set-up, then one role per warp.
///
/// Warps 0-3 epilogue, 4 scheduler, 5 load, 6 MMA.  After the role branch no block-wide or cluster-wide
/// barrier is executed: named barrier 0 belongs to the epilogue warps.
#pragma once

#include "kernels/matmul/epilogue_warp.h"
#include "kernels/matmul/load_warp.h"
#include "kernels/matmul/mma_warp.h"
#include "kernels/matmul/scheduler_warp.h"

namespace sm100 {

/// Barriers of this CTA; one lane of one warp.
template <Isa I, class Config>
SM100_KERNEL void init_barriers(I& isa, const Config& cfg, const SharedStorage& smem) {
  for_each_barrier_array(cfg, smem, [&](const BarrierArray& array) { init_barrier_array(isa, array); });
}

template <Isa I, class Config>
SM100_KERNEL void matmul_kernel(I& isa, const Config& cfg, const MatmulParams& params) {
  const SharedStorage smem = shared_storage(cfg, isa.dynamic_smem());
  const int warp = isa.warpid();
  {
    TraceSpan span{isa, TraceEvent::setup};
    if (warp == 0) {
      isa.elected([&] {
        isa.prefetch_tensormap(&params.a);
        isa.prefetch_tensormap(&params.b);
        isa.prefetch_tensormap(&params.c);
        init_barriers(isa, cfg, smem);
      });
    }
    isa.fence_mbarrier_init();
    // Cluster-wide: a remote arrival or a multicast copy must not reach a CTA before it has initialised its
    // barriers.
    isa.barrier_cluster_arrive();
    isa.barrier_cluster_wait();
  }

  const int k_tiles = ceil_div(params.k, block_k(cfg));
  // A static grid is smaller than the tiles; swapped, the user's N runs along the kernel's M.
  const Dim3 grid = cfg.static_scheduler ? Dim3{uint32_t(grid_m(cfg, cfg.ab_swapped ? params.n : params.m)),
                                                uint32_t(grid_n(cfg, cfg.ab_swapped ? params.m : params.n)),
                                                uint32_t(cfg.num_split_k)}
                                         : isa.nctaid();
  TileScheduler<I, Config> scheduler{
      isa,
      cfg,
      smem.scheduler,
      {.cluster_grid = {grid.x / uint32_t(cfg.cluster_m), grid.y / uint32_t(cfg.cluster_n), grid.z},
       .k_tiles = k_tiles,
       .k_tiles_per_split = k_tiles_per_split(cfg, k_tiles)}};

  if (warp < kEpilogueWarps) epilogue_warp(isa, cfg, smem, params, scheduler);
  if (warp == kSchedulerWarp && isa.cluster_ctarank() == 0) scheduler_warp(isa, cfg, scheduler);
  if (warp == kLoadWarp) load_warp(isa, cfg, smem, params, scheduler);
  if (warp == kMmaWarp) mma_warp(isa, cfg, smem, scheduler);
}

}  // namespace sm100
