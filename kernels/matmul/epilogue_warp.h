// SPDX-License-Identifier: Apache-2.0
/// Epilogue warps 0-3: accumulators to the output tensor, one quarter of the rows each.
#pragma once

#include "kernels/epilogue/tile_writer.h"
#include "kernels/matmul/config.h"
#include "kernels/matmul/mma_warp.h"
#include "kernels/matmul/params.h"
#include "kernels/matmul/shared_storage.h"
#include "kernels/matmul/split_reduction.h"
#include "kernels/scheduler/tile_scheduler.h"

namespace sm100 {

template <Isa I, class Config>
SM100_KERNEL void epilogue_warp(I& isa, const Config& cfg, const SharedStorage& smem, const MatmulParams& params,
                                TileScheduler<I, Config>& scheduler) {
  OutputRing<I> ring{isa, smem.accum, cfg.accum_stages, cfg.cta_group == 2 ? Scope::cluster : Scope::cta};

  isa.bar_sync(kTmemAddressBarrier, kTmemAddressThreads);
  isa.tcgen05_fence_after_thread_sync();
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const int stage = ring.consumer_wait();
    const OutputTile output{.map = &params.c,
                            .functor = &params.functor,
                            .column = tile.n * cfg.mma_n,
                            .row = tile.m * block_m(cfg),
                            .buffers = smem.c_strips,
                            .accumulator = tmem.plus_columns(uint32_t(stage * accum_stride_columns(cfg))),
                            .stage = stage};
    // Both release the accumulator after its last load.
    if (cfg.num_split_k == 1 || reduce_split(isa, cfg, ring, params.split, tile, output))
      write_tile(isa, cfg, ring, output);
    ring.consumer_step();
  }
  // All our loads are done: tensor memory may be freed.
  isa.tcgen05_fence_before_thread_sync();
  if (cfg.cta_group == 2)  // the peer's MMA warp frees what the pair's MMAs wrote: it waits for us too
    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::cta);
  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);
}

}  // namespace sm100
