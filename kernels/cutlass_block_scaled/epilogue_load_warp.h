// SPDX-License-Identifier: Apache-2.0
/// Epilogue load warp: brings the residual of each tile, strip by strip, in the order in which the epilogue takes
/// them.
#pragma once

#include "kernels/cutlass_block_scaled/overlapped_ring.h"
#include "kernels/cutlass_block_scaled/params.h"

namespace sm100 {

template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void epilogue_load_warp(I& isa, const Config& cfg, const Storage& smem,
                                     const CutlassBlockScaledParams& params, Scheduler& scheduler) {
  if (cfg.pdl) isa.griddepcontrol_wait();  // the kernel ahead may still write the residual
  auto ring = residual_ring(isa, cfg.residual_stages, smem.tiles);
  mbarrier_wait_once(isa, smem.tiles.load_order);
  bool second = false;  // of the accumulators, as the epilogue counts them
  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile tile = work.current();
    work.prefetch();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    for (int place = 0; place < strips_per_tile(cfg); ++place) {
      const auto stage = ring.producer_acquire();
      TraceSpan span{isa, TraceEvent::load_issue, {.stage = stage.index, .tile_m = tile.m, .tile_n = tile.n}};
      const int column = tile.n * cfg.mma_n + strip_of(cfg, second, place) * strip_columns(cfg);
      isa.elected([&] {
        ring.arm(stage);
        isa.cp_async_bulk_tensor_shared_global(stage.strip, &params.residual,
                                               TensorCoords{column, tile.m * block_m(cfg)}, stage.full(), 1);
      });
      ring.producer_step();
    }
    isa.bar_warp_sync();
    second = !second;
  }
  ring.producer_drain();
}

}  // namespace sm100
