// SPDX-License-Identifier: Apache-2.0
/// Epilogue warps of the blockwise matmul, a group of four: they add the scaled products of k tiles in registers,
/// and store the sums as the dense matmul stores its accumulators.
#pragma once

#include "kernels/blockwise/params.h"
#include "kernels/blockwise/tile_sums.h"
#include "kernels/epilogue/tile_writer.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/rings.h"

namespace sm100 {

/// One epilogue warp: its loads of the stage's scales are done.  MMAs that read the stage's tiles release it as
/// well.
template <Isa I, class Config, class Stage>
SM100_KERNEL void release_row_scales(I& isa, const Config& cfg, const Stage& stage) {
  isa.fence_proxy_async_shared_cta();  // TMA fills the tile again
  isa.bar_warp_sync();                 // few lanes arrive for all that have read
  isa.lanes_below(cluster_size(cfg), [&] { isa.mbarrier_arrive(stage.empty(), Scope::cta); });
}

/// The k tiles of a work tile.
/// @param input  only its cursor steps: an accumulator's commit comes after the MMA warp's wait for the stage
/// @param table  of the B that the tile multiplies with (load_column_scales)
template <int R, Isa I, class Config, class Input, class Table>
SM100_KERNEL void sum_k_tiles(I& isa, const Config& cfg, const WarpGroup& group, OutputRing<I>& accumulators,
                              Input& input, const Table& table, const WorkTile& tile, TileSums<Config, R>& sums) {
  const int warp = group.index(isa);
  sums.clear(isa, cfg);
  for (int k = tile.k_begin; k < tile.k_end(); ++k) {
    // On their way while we wait.
    ColumnScales columns = load_column_scales(isa, cfg, table, tile.n, k);
    const AccumulatorStage accumulator = accumulators.consumer_wait();
    const auto stage = input.at(input.consumer_stage());
    RowScales rows = load_row_scales(isa, cfg, stage.a_scales, stage.index, warp_part(cfg, warp).row);
    release_row_scales(isa, cfg, stage);
    input.consumer_step();
    widen_scales(isa, cfg, rows, columns);
    sums.add(isa, cfg, accumulator.accumulator, rows, columns, tile.n, warp);
    accumulators.consumer_release(accumulator);
    accumulators.consumer_step();
  }
}

/// R: strip columns / 8.
template <int R, Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void sum_and_store_tiles(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                      const BlockwiseParams& params, Scheduler& scheduler, TmemAddr tmem) {
  auto accumulators = output_ring(isa, cfg, smem, tmem, cfg.cta_group == 2 ? Scope::cluster : Scope::cta);
  auto input = input_ring(isa, cfg, smem, own_place(isa, cfg));
  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    TileSums<Config, R> sums;
    sum_k_tiles(isa, cfg, group, accumulators, input, params, tile, sums);
    write_tile_strips<R>(isa, cfg, group, sums,
                         OutputTile<>{.map = &params.c,
                                      .functor = &params.functor,
                                      .column = tile.n * cfg.mma_n,
                                      .row = tile.m * block_m(cfg),
                                      .buffers = smem.c_strips,
                                      .result = {}});
  }
}

/// An epilogue warp's start: where accumulators lie.
template <Isa I, class Config, class Storage>
SM100_KERNEL TmemAddr await_tensor_memory(I& isa, const Config& cfg, const Storage& smem) {
  isa.bar_sync(kTmemAddressBarrier, tmem_address_threads(cfg));
  isa.tcgen05_fence_after_thread_sync();
  return TmemAddr{isa.ld_shared_u32(smem.tmem_address)};
}

/// And its end: all its loads are done, tensor memory may be freed, by the peer's MMA warp too.
template <Isa I, class Config, class Storage>
SM100_KERNEL void release_tensor_memory(I& isa, const Config& cfg, const Storage& smem) {
  isa.tcgen05_fence_before_thread_sync();
  if (cfg.cta_group == 2)
    isa.mbarrier_arrive(isa.mapa(smem.tmem_dealloc, isa.cluster_ctarank() ^ 1), Scope::unstated);
  isa.mbarrier_arrive(smem.tmem_dealloc, Scope::cta);
}

template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void blockwise_epilogue_warp(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                          const BlockwiseParams& params, Scheduler& scheduler) {
  const TmemAddr tmem = await_tensor_memory(isa, cfg, smem);
  if constexpr (std::is_empty_v<Config>)  // not through a function object: nvcc calls one that is so large
    sum_and_store_tiles<strip_columns(Config{}) / 8>(isa, cfg, group, smem, params, scheduler, tmem);
  else
    with_strip_registers(cfg,
                         [&](auto r) { sum_and_store_tiles<r()>(isa, cfg, group, smem, params, scheduler, tmem); });
  release_tensor_memory(isa, cfg, smem);
}

}  // namespace sm100
