// SPDX-License-Identifier: Apache-2.0
/// The dense matmul kernel: set-up, then one role per warp.
///
/// Warps 0-3 epilogue, 4 scheduler, 5 load, 6 MMA.  After the role branch no block-wide or cluster-wide
/// barrier is executed: named barrier 0 belongs to the epilogue warps.
#pragma once

#include "kernels/matmul/epilogue_warp.h"
#include "kernels/matmul/load_warp.h"
#include "kernels/matmul/mma_warp.h"
#include "kernels/matmul/scheduler_warp.h"
#include "kernels/pipeline/set_up.h"
#include "kernels/scheduler/clc_scheduler.h"
#include "kernels/scheduler/one_tile_scheduler.h"
#include "kernels/scheduler/static_scheduler.h"

namespace sm100 {

/// The work of the launch.
template <Isa I, class Config>
SM100_KERNEL TileGrid tile_grid(I& isa, const Config& cfg, const MatmulParams& params) {
  const int k_tiles = ceil_div(params.k, block_k(cfg));
  // A static grid is smaller than the tiles; swapped, the user's N runs along the kernel's M.
  const Dim3 grid = cfg.static_scheduler ? Dim3{uint32_t(grid_m(cfg, cfg.ab_swapped ? params.n : params.m)),
                                                uint32_t(grid_n(cfg, cfg.ab_swapped ? params.m : params.n)),
                                                uint32_t(cfg.num_split_k)}
                                         : isa.nctaid();
  return {.clusters = {grid.x / uint32_t(cfg.cluster_m), grid.y / uint32_t(cfg.cluster_n), grid.z},
          .cluster_m = cfg.cluster_m,
          .cluster_n = cfg.cluster_n,
          .raster_order = cfg.raster_order,
          .block_swizzle = cfg.block_swizzle,
          .k_tiles = k_tiles,
          .k_tiles_per_split = k_tiles_per_split(cfg, k_tiles)};
}

/// One role per warp, whoever hands out the tiles.  `Parts` is what a kernel brings to the roles: DenseParts below.
template <class Parts, Isa I, class Config, class Storage, class Params, class Scheduler>
SM100_KERNEL void matmul_roles(I& isa, const Config& cfg, const Storage& smem, const Params& params,
                               Scheduler scheduler) {
  const int warp = isa.warpid();
  if (epilogue_group().has(warp)) Parts::epilogue(isa, cfg, epilogue_group(), smem, params, scheduler);
  if constexpr (Scheduler::kRequests) {
    if (warp == kSchedulerWarp && own_place(isa, cfg).first()) scheduler_warp(isa, cfg, scheduler);
  }
  if (warp == kLoadWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    load_warp(isa, cfg, input_ring(isa, cfg, smem, place), Parts::loader(cfg, params, place), scheduler);
  }
  if (warp == kMmaWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    mma_warp(isa, cfg, smem, place, mma_input(isa, cfg, smem, place), Parts::issuer(cfg), Parts::work(scheduler));
  }
  if constexpr (requires { Parts::other_roles(isa, cfg, smem, params, scheduler); })
    Parts::other_roles(isa, cfg, smem, params, scheduler);  // of warps beside these
}

template <class Parts, Isa I, class Config, class Params>
SM100_KERNEL void run_matmul(I& isa, const Config& cfg, const Params& params) {
  const auto smem = storage_at<MatmulStorage<typename Parts::Tiles>>(cfg, isa.dynamic_smem());
  set_up_cluster(isa, cfg, smem, [&] { Parts::prefetch(isa, params); });
  const TileGrid grid = tile_grid(isa, cfg, params);
  if (cfg.static_scheduler)
    matmul_roles<Parts>(isa, cfg, smem, params, StaticScheduler{isa, grid});
  else if (cfg.clc_stages > 0)
    matmul_roles<Parts>(isa, cfg, smem, params, ClcScheduler{isa, smem.scheduler, cfg.clc_stages, grid});
  else
    matmul_roles<Parts>(isa, cfg, smem, params, OneTileScheduler{isa, grid});
}

/// What the dense matmul is made of beside its roles.
struct DenseParts {
  using Tiles = OperandTiles;  ///< of a stage

  template <Isa I>
  SM100_KERNEL static void prefetch(I& isa, const MatmulParams& params) {
    prefetch_tensormaps(isa, params.a, params.b, params.c);
  }
  /// What a stage is filled with.
  template <class C>
  SM100_HD static OperandLoader<C> loader(const C& cfg, const MatmulParams& params, const ClusterPlace& place) {
    return {cfg, params, place};
  }
  /// What is issued on a stage.
  template <class C>
  SM100_HD static OperandMmas<C> issuer(const C& cfg) {
    return OperandMmas<C>{cfg};
  }
  /// Who hands the MMA warp its work: a WorkTile is what it adds in one accumulator.
  template <class Scheduler>
  SM100_HD static Scheduler& work(Scheduler& scheduler) {
    return scheduler;
  }
  /// An epilogue warp's role.
  template <Isa I, class Config, class Storage, class Params, class Scheduler>
  SM100_KERNEL static void epilogue(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                    const Params& params, Scheduler& scheduler) {
    epilogue_warp(isa, cfg, group, smem, params, scheduler);
  }
};

template <Isa I, class Config>
SM100_KERNEL void matmul_kernel(I& isa, const Config& cfg, const MatmulParams& params) {
  run_matmul<DenseParts>(isa, cfg, params);
}

}  // namespace sm100
