// SPDX-License-Identifier: Apache-2.0
/// Load warp of pipeline_copy: fills the input ring with the k tiles of each work tile.
#pragma once

#include "kernels/copy/config.h"
#include "kernels/copy/params.h"
#include "kernels/copy/shared_storage.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/scheduler/static_walk.h"

namespace sm100 {

/// Copies of one ring stage; one lane.  With multicast our share of the rows goes to every CTA of the cluster, and
/// theirs come to us.
template <Isa I, class Config, class Stage>
SM100_KERNEL void load_copy_stage(I& isa, const Config& cfg, const CopyParams& params, const Stage& stage,
                                  const WorkTile& tile, int k_tile) {
  const int column = tile.n * cfg.tile_n, row = tile.m * cfg.tile_m;
  for (int j = 0; j < cfg.k_group_size; ++j) {
    const int k = column + (k_tile + j) * copy_block_k(cfg);
    if (cfg.multicast) {
      const int rank = int(isa.cluster_ctarank());
      const SmemTile slice = stage.slot(j).slice(rank, cfg.cluster);
      isa.cp_async_bulk_tensor_shared_global_multicast(slice.base, &params.source,
                                                       TensorCoords{k, row + rank * slice.shape.rows}, stage.full(),
                                                       CtaMask{uint16_t((1u << cfg.cluster) - 1)});
    } else {
      isa.cp_async_bulk_tensor_shared_global(stage.slot(j).base, &params.source, TensorCoords{k, row},
                                             stage.full());
    }
  }
}

template <Isa I, class Config>
SM100_KERNEL void copy_load_warp(I& isa, const Config& cfg, const CopyStorage& smem, const CopyParams& params,
                                 StaticWorkIterator<I> work) {
  InputRing ring{isa, smem.input, copy_ring_stages(cfg), smem.tiles, cfg.multicast ? Scope::cluster : Scope::cta};

  if (cfg.pdl) isa.griddepcontrol_wait();  // the kernel ahead may still write the source, or read the destination
  for (; work.has_work(); work.next()) {
    const WorkTile& tile = work.current();
    TraceSpan tile_span{isa, TraceEvent::tile, {.tile_m = tile.m, .tile_n = tile.n}};
    for (int k = 0; k < tile.k_count; k += cfg.k_group_size) {
      const auto stage = ring.producer_acquire();
      TraceSpan span{
          isa, TraceEvent::load_issue, {.stage = stage.index, .tile_m = tile.m, .tile_n = tile.n, .k = k}};
      isa.elected([&] {
        ring.arm(stage);  // for all bytes of the stage, also those that peers load
        load_copy_stage(isa, cfg, params, stage, tile, k);
      });
      ring.producer_step();
    }
    isa.bar_warp_sync();
  }
  if (cfg.pdl) isa.griddepcontrol_launch_dependents();
  ring.producer_drain();  // peers' arrivals may still be on their way to our barriers: do not exit yet
}

}  // namespace sm100
