// SPDX-License-Identifier: Apache-2.0
/// Epilogue warps of the grouped 1D-1D matmul: whole tiles by TMA, tiles that cross their group's end row by row.
#pragma once

#include "kernels/epilogue/tile_writer.h"
#include "kernels/grouped_1d1d/guarded_writer.h"
#include "kernels/grouped_1d1d/params.h"
#include "kernels/grouped_1d1d/token_rows_of_tile.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/rings.h"

namespace sm100 {

/// All four warps of the group.
template <Isa I, class Config>
SM100_KERNEL void write_group_tile(I& isa, const Config& cfg, const WarpGroup& group, SmemAddr strips,
                                   const Grouped1d1dParams& params, OutputRing<I>& ring,
                                   const AccumulatorStage& accumulator, const GroupTile& tile,
                                   const TokenRowsOfTile& tokens) {
  // Of the kernel's output; swapped, its rows are columns of C.
  const int row = cfg.ab_swapped ? tile.m * block_m(cfg) : tokens.first,
            column = cfg.ab_swapped ? tokens.first : tile.n * cfg.mma_n;
  if (tokens.whole()) {
    const OutputTile<> output{.map = &params.c,
                              .functor = &tokens.functor,
                              .column = column,
                              .row = row,
                              .buffers = strips,
                              .result = accumulator};
    write_tile(isa, cfg, group, ring, output);
  } else if (tokens.end > tokens.first) {
    constexpr int kRepetitions = 4;  // MMA_N is a multiple of 64: strips have 32 columns
    write_guarded_strips<kRepetitions>(isa, cfg, group, AccumulatorStrips<I>{isa, ring, accumulator},
                                       tokens.functor, GlobalMatrix{params.groups.c, tokens.end, params.n}, row,
                                       column);
  } else {
    ring.consumer_release(accumulator);  // all rows of this CTA lie beyond the group: its peer has the last ones
  }
}

template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void grouped_epilogue_warp(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                        const Grouped1d1dParams& params, Scheduler& scheduler) {
  isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));
  isa.tcgen05_fence_after_thread_sync();
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};
  auto ring = output_ring(isa, cfg, smem, tmem, cfg.cta_group == 2 ? Scope::cluster : Scope::cta);

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const GroupTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const TokenRowsOfTile tokens = rows_of_tile(isa, cfg, params, tile);  // read while the MMAs run
    const AccumulatorStage accumulator = ring.consumer_wait();
    write_group_tile(isa, cfg, group, smem.c_strips, params, ring, accumulator, tile, tokens);
    ring.consumer_step();
  }
  // All our loads are done: tensor memory may be freed.
  isa.tcgen05_fence_before_thread_sync();
  if (cfg.cta_group == 2)  // the peer's MMA warp frees what the pair's MMAs wrote: it waits for us too
    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::unstated);
  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);
}

}  // namespace sm100
