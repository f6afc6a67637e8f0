// SPDX-License-Identifier: Apache-2.0
/// Epilogue warps of the grouped 1D-1D matmul: whole tiles by TMA, tiles that cross their group's end row by row.
#pragma once

#include "kernels/epilogue/tile_writer.h"
#include "kernels/grouped_1d1d/group_walk.h"
#include "kernels/grouped_1d1d/guarded_writer.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/rings.h"

namespace sm100 {

/// One behind the last of the tile's rows `first` ... `first + rows - 1` that are the group's.
template <Isa I, class Config>
SM100_KERNEL int end_of_rows(I& isa, const Config& cfg, const Grouped1d1dParams& params, const GroupTile& tile,
                             int first, int rows) {
  const int end = first + rows < tile.group.end_row ? first + rows : tile.group.end_row;
  if (cfg.layout != TokenLayout::contiguous || end <= first) return end;
  // The group's rows, then padding up to its alignment: the first row that names no expert.
  const GroupTable<I, Config> table{isa, cfg, params};
  if (table.expert_of_row(end - 1) == tile.group.expert) return end;
  int low = first, high = end - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (table.expert_of_row(middle) == tile.group.expert)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// All four warps of the group: one tile.
template <Isa I, class Config>
SM100_KERNEL void write_group_tile(I& isa, const Config& cfg, const WarpGroup& group, const SmemAddr& strips,
                                   const Grouped1d1dParams& params, OutputRing<I>& ring,
                                   const AccumulatorStage& accumulator, const GroupTile& tile) {
  const int row = tile.m * block_m(cfg), column = tile.n * cfg.mma_n;  // swapped, `row` counts columns of C
  const int token = tile.first_token(cfg), rows = cfg.ab_swapped ? cfg.mma_n : block_m(cfg);
  const int tile_row = cfg.ab_swapped ? row : token, tile_column = cfg.ab_swapped ? token : column;
  const int end = cfg.whole_tiles ? token + rows : end_of_rows(isa, cfg, params, tile, token, rows);
  FunctorParams functor = params.functor;
  if (cfg.scaled)
    functor.alpha = as_float(isa.ld_global_u32(params.groups.expert_scales + 4 * uint64_t(tile.group.expert)));

  if (end == token + rows) {
    const OutputTile output{.map = &params.c,
                            .functor = &functor,
                            .column = tile_column,
                            .row = tile_row,
                            .buffers = strips,
                            .result = accumulator};
    write_tile(isa, cfg, group, ring, output);
  } else if (end > token) {
    write_guarded_tile(isa, cfg, group, ring, accumulator, functor, GlobalMatrix{params.groups.c, end, params.n},
                       tile_row, tile_column);
  } else {
    ring.consumer_release(accumulator);  // all rows of this CTA lie beyond the group: its peer has the last ones
  }
}

template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void grouped_epilogue_warp(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                        const Grouped1d1dParams& params, Scheduler& scheduler) {
  isa.bar_sync(kTmemAddressBarrier, kTmemAddressThreads);
  isa.tcgen05_fence_after_thread_sync();
  const TmemAddr tmem{isa.ld_shared_u32(smem.tmem_address)};
  auto ring = output_ring(isa, cfg, smem, tmem, cfg.cta_group == 2 ? Scope::cluster : Scope::cta);

  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const GroupTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const AccumulatorStage accumulator = ring.consumer_wait();
    write_group_tile(isa, cfg, group, smem.c_strips, params, ring, accumulator, tile);
    ring.consumer_step();
  }
  // All our loads are done: tensor memory may be freed.
  isa.tcgen05_fence_before_thread_sync();
  if (cfg.cta_group == 2)  // the peer's MMA warp frees what the pair's MMAs wrote: it waits for us too
    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::cta);
  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);
}

}  // namespace sm100
