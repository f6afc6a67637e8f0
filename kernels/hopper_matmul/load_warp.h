// SPDX-License-Identifier: Apache-2.0
/// Load warp of hopper_matmul: fills the ring with the k tiles of each tile.
#pragma once

#include "kernels/hopper_matmul/config.h"
#include "kernels/hopper_matmul/params.h"
#include "kernels/hopper_matmul/shared_storage.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/scheduler/static_walk.h"

namespace sm100 {

/// Copies of a stage; one lane.  A's rows are our own; of B we load our part for every CTA of the cluster, and
/// theirs come to us.
template <Isa I, class Config, class Stage>
SM100_KERNEL void load_hopper_stage(I& isa, const Config& cfg, const HopperMatmulParams& params, const Stage& stage,
                                    const WorkTile& tile, int k_tile) {
  const int rank = cfg.cluster == 1 ? 0 : int(isa.cluster_ctarank());
  const int k = k_tile * hopper_block_k(cfg);
  const int row = (tile.m * cfg.cluster + rank) * hopper_block_m(cfg), column = tile.n * cfg.block_n;
  isa.cp_async_bulk_tensor_shared_global(stage.a(0).base, &params.a, TensorCoords{k, row}, stage.full());
  if (cfg.cluster == 1) {
    isa.cp_async_bulk_tensor_shared_global(stage.b(0).base, &params.b, TensorCoords{k, column}, stage.full());
  } else {
    const SmemTile part = stage.b(0).slice(rank, cfg.cluster);
    isa.cp_async_bulk_tensor_shared_global_multicast(part.base, &params.b,
                                                     TensorCoords{k, column + rank * part.shape.rows}, stage.full(),
                                                     CtaMask{uint16_t((1u << cfg.cluster) - 1)});
  }
}

template <Isa I, class Config>
SM100_KERNEL void hopper_load_warp(I& isa, const Config& cfg, const HopperStorage& smem,
                                   const HopperMatmulParams& params, StaticWorkIterator<I> work) {
  InputRing ring{isa, smem.input, cfg.stages, smem.tiles, cfg.cluster > 1 ? Scope::cluster : Scope::cta};
  for (; work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    for (int k = 0; k < tile.k_count; ++k) {
      const auto stage = ring.producer_acquire();
      TraceSpan span{
          isa, TraceEvent::load_issue, {.stage = stage.index, .tile_m = tile.m, .tile_n = tile.n, .k = k}};
      isa.elected([&] {
        ring.arm(stage);  // for all bytes of the stage, also those that peers load
        load_hopper_stage(isa, cfg, params, stage, tile, k);
      });
      ring.producer_step();
    }
    isa.bar_warp_sync();
  }
  ring.producer_drain();  // peers' arrivals may still be on their way to our barriers: do not exit yet
}

}  // namespace sm100
