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

/// What the epilogue must know of a tile: its rows in C, and its expert's factor.
struct TokenRowsOfTile {
  int first, rows;  ///< of this CTA's part of the tile
  int end;          ///< one behind the last that it stores
  FunctorParams functor;

  SM100_HD constexpr bool whole() const { return end == first + rows; }
};

template <Isa I, class Config>
SM100_KERNEL TokenRowsOfTile rows_of_tile(I& isa, const Config& cfg, const Grouped1d1dParams& params,
                                          const GroupTile& tile) {
  const int first = tile.first_token(cfg), rows = cfg.ab_swapped ? cfg.mma_n : block_m(cfg);
  TokenRowsOfTile t{first, rows, first + rows, params.functor};
  if (!cfg.whole_tiles) t.end = end_of_rows(isa, cfg, params, tile, first, rows);
  if (cfg.scaled)
    t.functor.alpha = as_float(isa.ld_global_u32(params.groups.expert_scales + 4 * uint64_t(tile.group.expert)));
  return t;
}

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
    write_guarded_tile(isa, cfg, group, ring, accumulator, tokens.functor,
                       GlobalMatrix{params.groups.c, tokens.end, params.n}, row, column);
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
    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::cta);
  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);
}

}  // namespace sm100
