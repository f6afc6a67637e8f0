// SPDX-License-Identifier: Apache-2.0
/// Epilogue warps, a group of four: accumulators to the output tensor, one quarter of the rows each.
#pragma once

#include "kernels/epilogue/tile_writer.h"
#include "kernels/matmul/config.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/params.h"
#include "kernels/matmul/rings.h"
#include "kernels/matmul/split_reduction.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

template <Isa I, class Config, class Storage, class Params, class Scheduler>
SM100_KERNEL void epilogue_warp(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                const Params& params, Scheduler& scheduler) {
  isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));
  isa.tcgen05_fence_after_thread_sync();
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};
  auto ring = output_ring(isa, cfg, smem, tmem, cfg.cta_group == 2 ? Scope::cluster : Scope::cta);

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const AccumulatorStage accumulator = ring.consumer_wait();
    const OutputTile<> output{.map = &params.c,
                              .functor = &params.functor,
                              .column = tile.n * cfg.mma_n,
                              .row = tile.m * block_m(cfg),
                              .buffers = smem.c_strips,
                              .result = accumulator};
    // Both release the accumulator after its last load.
    if (cfg.num_split_k == 1 || reduce_split(isa, cfg, group, ring, params.split, tile, output))
      write_output(isa, cfg, group, ring, params, output);
    ring.consumer_step();
  }
  // All our loads are done: tensor memory may be freed.
  isa.tcgen05_fence_before_thread_sync();
  if (cfg.cta_group == 2)  // the peer's MMA warp frees what the pair's MMAs wrote: it waits for us too
    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::unstated);
  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);
}

/// What a tile becomes in global memory.  A kernel whose output is more than C has an overload for its parameters.
template <Isa I, class Config>
SM100_KERNEL void write_output(I& isa, const Config& cfg, const WarpGroup& group, OutputRing<I>& ring,
                               const MatmulParams&, const OutputTile<>& tile) {
  write_tile(isa, cfg, group, ring, tile);
}

}  // namespace sm100
