// SPDX-License-Identifier: Apache-2.0
/// Epilogue warps of the grouped 1D-2D matmul: they add the scaled products of k tiles in registers, and store
/// whole tiles by TMA and tiles that cross their group's end row by row.
#pragma once

#include "kernels/blockwise/blockwise_epilogue_warp.h"
#include "kernels/grouped_1d1d/guarded_writer.h"
#include "kernels/grouped_1d1d/token_rows_of_tile.h"
#include "kernels/grouped_1d2d/params.h"

namespace sm100 {

/// All four warps of the group.  R: strip columns / 8.
template <int R, Isa I, class Config>
SM100_KERNEL void write_group_sums(I& isa, const Config& cfg, const WarpGroup& group, SmemAddr strips,
                                   const Grouped1d2dParams& params, const GroupTile& tile,
                                   const TokenRowsOfTile& tokens, TileSums<Config, R>& sums) {
  const int column = tile.n * cfg.mma_n;
  if (tokens.whole())
    write_tile_strips<R>(isa, cfg, group, sums,
                         OutputTile<>{.map = &params.c,
                                      .functor = &tokens.functor,
                                      .column = column,
                                      .row = tokens.first,
                                      .buffers = strips,
                                      .result = {}});
  else if (tokens.end > tokens.first)  // else all rows of this CTA lie beyond the group: its peer has the last ones
    write_guarded_strips<R>(isa, cfg, group, sums, tokens.functor,
                            GlobalMatrix{params.groups.c, tokens.end, params.n}, tokens.first, column);
}

/// R: strip columns / 8.
template <int R, Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void sum_and_store_group_tiles(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                            const Grouped1d2dParams& params, Scheduler& scheduler, TmemAddr tmem) {
  auto accumulators = output_ring(isa, cfg, smem, tmem, cfg.cta_group == 2 ? Scope::cluster : Scope::cta);
  auto input = input_ring(isa, cfg, smem, own_place(isa, cfg));
  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const GroupTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    const TokenRowsOfTile tokens = rows_of_tile(isa, cfg, params, tile);  // read while the MMAs run
    TileSums<Config, R> sums;
    sum_k_tiles(isa, cfg, group, accumulators, input, params.scales_of(cfg, tile.group.expert), tile, sums);
    write_group_sums(isa, cfg, group, smem.c_strips, params, tile, tokens, sums);
  }
}

template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void grouped_sums_epilogue_warp(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                             const Grouped1d2dParams& params, Scheduler& scheduler) {
  const TmemAddr tmem = await_tensor_memory(isa, cfg, smem);
  if constexpr (std::is_empty_v<Config>)  // not through a function object: nvcc calls one that is so large
    sum_and_store_group_tiles<strip_columns(Config{}) / 8>(isa, cfg, group, smem, params, scheduler, tmem);
  else
    with_strip_registers(
        cfg, [&](auto r) { sum_and_store_group_tiles<r()>(isa, cfg, group, smem, params, scheduler, tmem); });
  release_tensor_memory(isa, cfg, smem);
}

}  // namespace sm100
