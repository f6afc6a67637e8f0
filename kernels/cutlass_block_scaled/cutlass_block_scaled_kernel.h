// SPDX-License-Identifier: Apache-2.0
/// The block-scaled matmul with its roles as CUTLASS arranges them: warp 0 MMA, 1 scheduler, 2 load, 3 epilogue
/// load, 4-7 epilogue.
///
/// The block-scaled matmul's stages, loads and MMAs, and the dense matmul's scheduler, load and MMA warps;
/// accumulators that may overlap, and a residual that comes by TMA.
#pragma once

#include "kernels/block_scaled/scaled_mmas.h"
#include "kernels/cutlass_block_scaled/cutlass_epilogue_warp.h"
#include "kernels/cutlass_block_scaled/epilogue_load_warp.h"
#include "kernels/cutlass_block_scaled/mma_input_ring.h"
#include "kernels/cutlass_block_scaled/ordered_loader.h"
#include "kernels/matmul/matmul_kernel.h"

namespace sm100 {

template <Isa I, class Config, class Storage, class Scheduler>
SM100_KERNEL void cutlass_roles(I& isa, const Config& cfg, const Storage& smem,
                                const CutlassBlockScaledParams& params, Scheduler scheduler) {
  const int warp = isa.warpid();
  if (warp == kCutlassMmaWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    mma_warp(isa, cfg, smem, place, mma_input(isa, cfg, smem, place), ScaledMmas<Config>{cfg}, scheduler);
  }
  if constexpr (Scheduler::kRequests) {
    if (warp == kCutlassSchedulerWarp && own_place(isa, cfg).first()) scheduler_warp(isa, cfg, scheduler);
  }
  if (warp == kCutlassLoadWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    load_warp(isa, cfg, input_ring(isa, cfg, smem, place),
              OrderedLoader<Config>{cfg, params, place, smem.tiles.load_order}, scheduler);
  }
  if (warp == kEpilogueLoadWarp && cfg.residual) epilogue_load_warp(isa, cfg, smem, params, scheduler);
  if (cutlass_epilogue_group().has(warp))
    cutlass_epilogue_warp(isa, cfg, cutlass_epilogue_group(), smem, params, scheduler);
}

template <Isa I, class Config>
SM100_KERNEL void cutlass_block_scaled_kernel(I& isa, const Config& cfg, const CutlassBlockScaledParams& params) {
  const auto smem = storage_at<CutlassStorage>(cfg, isa.dynamic_smem());
  set_up_cluster(isa, cfg, smem, [&] {
    prefetch_tensormaps(isa, params.a, params.b, params.sfa, params.sfb, params.c);
    if (cfg.residual) prefetch_tensormaps(isa, params.residual);
  });
  const TileGrid grid = tile_grid(isa, cfg, params);
  if (cfg.static_scheduler)
    cutlass_roles(isa, cfg, smem, params, StaticScheduler{isa, grid});
  else if (cfg.clc_stages > 0)
    cutlass_roles(isa, cfg, smem, params, ClcScheduler{isa, smem.scheduler, cfg.clc_stages, grid});
  else
    cutlass_roles(isa, cfg, smem, params, OneTileScheduler{isa, grid});
}

}  // namespace sm100
