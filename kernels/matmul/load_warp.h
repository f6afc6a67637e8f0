/// Load warp: fills the input ring with the A and B tiles of each work tile.
#pragma once

#include "kernels/matmul/config.h"
#include "kernels/matmul/params.h"
#include "kernels/matmul/shared_storage.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/scheduler/tile_scheduler.h"

namespace sm100 {

/// Copies of one ring stage; one lane.
template <Isa I, class Config>
SM100_KERNEL void load_stage(I& isa, const Config& cfg, const SharedStorage& smem, const MatmulParams& params,
                             InputRing<I>& ring, int stage, const WorkTile& tile, int k_tile) {
  for (int j = 0; j < cfg.k_group_size; ++j) {
    const uint32_t slot = uint32_t(stage * cfg.k_group_size + j);
    const int k = (k_tile + j) * block_k(cfg);
    isa.cp_async_bulk_tensor_shared_global(smem.a_tiles + slot * a_tile_bytes(cfg), &params.a,
                                           TensorCoords{k, tile.m * block_m(cfg)}, ring.full(stage));
    isa.cp_async_bulk_tensor_shared_global(smem.b_tiles + slot * b_tile_bytes(cfg), &params.b,
                                           TensorCoords{k, tile.n * cfg.mma_n}, ring.full(stage));
  }
}

template <Isa I, class Config>
SM100_KERNEL void load_warp(I& isa, const Config& cfg, const SharedStorage& smem, const MatmulParams& params,
                            TileScheduler<I, Config>& scheduler) {
  InputRing<I> ring{isa, smem.input, ring_stages(cfg)};

  if (cfg.pdl) isa.griddepcontrol_wait();  // the kernel ahead may still write A and B; all else follows from our loads
  // next() fetches only after the work: the scheduler asks for the next tile once this one has begun.
  for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    work.throttle_signal();  // lets the scheduler ask for the next tile
    for (int k = tile.k_begin; k < tile.k_begin + tile.k_count; k += cfg.k_group_size) {
      const int stage = ring.producer_acquire();
      const TraceArgs args{.stage = stage, .tile_m = tile.m, .tile_n = tile.n, .k = k};
      TraceSpan span{isa, TraceEvent::load_issue, args};
      isa.elected([&] {
        ring.producer_arm(stage, stage_transaction_bytes(cfg));  // once per stage, before its copies
        load_stage(isa, cfg, smem, params, ring, stage, tile, k);
      });
      ring.producer_step();
    }
    isa.bar_warp_sync();
  }
  ring.producer_drain();  // commits may still be on their way to our barriers: do not exit yet
}

}  // namespace sm100
