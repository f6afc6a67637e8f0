// SPDX-License-Identifier: Apache-2.0
/// Epilogue warps, a group of four: accumulators, and the residual, to the output tensor.  The next tile is fetched
/// before the work on this one.
#pragma once

#include "kernels/cutlass_block_scaled/accumulator_strips.h"
#include "kernels/cutlass_block_scaled/params.h"
#include "kernels/epilogue/tile_writer.h"
#include "kernels/matmul/named_barriers.h"

namespace sm100 {

template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void cutlass_epilogue_warp(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                        const CutlassBlockScaledParams& params, Scheduler& scheduler) {
  isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));
  isa.tcgen05_fence_after_thread_sync();
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};
  auto ring = output_ring(isa, cfg, smem, tmem, cfg.cta_group == 2 ? Scope::cluster : Scope::cta);
  auto residual = residual_ring(isa, cfg.residual_stages, smem.tiles);

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile tile = work.current();
    work.prefetch();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const OverlappedStage accumulator = ring.consumer_wait();
    const OutputTile<> output{.map = &params.c,
                              .functor = &params.functor,
                              .column = tile.n * cfg.mma_n,
                              .row = tile.m * block_m(cfg),
                              .buffers = smem.c_strips,
                              .result = accumulator};
    FinishedStrips source{isa, cfg, params.functor, ring, accumulator, residual};
    write_tile_strips<4>(isa, cfg, group, source, output);  // N is a multiple of 64: strips have 32 columns
    ring.consumer_step();
  }
  // The last release came before our last loads where accumulators overlap: the MMA warp waits for this to free
  // tensor memory.
  isa.tcgen05_fence_before_thread_sync();
  if (cfg.cta_group == 2)  // the peer's MMA warp frees what the pair's MMAs wrote: it waits for us too
    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::unstated);
  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);
}

}  // namespace sm100
