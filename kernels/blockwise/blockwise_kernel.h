// SPDX-License-Identifier: Apache-2.0
/// The blockwise matmul kernel (FP8 with f32 scales for blocks of 128): the dense matmul's roles with other stages
/// and loads, an accumulator for each k tile, and an epilogue that adds them in registers.
#pragma once

#include "kernels/blockwise/blockwise_epilogue_warp.h"
#include "kernels/blockwise/blockwise_loader.h"
#include "kernels/blockwise/k_tile_scheduler.h"
#include "kernels/matmul/matmul_kernel.h"

namespace sm100 {

using BlockwiseStorage = MatmulStorage<BlockwiseTiles>;

/// What differs from the dense matmul's.
struct BlockwiseParts : DenseParts {
  using Tiles = BlockwiseTiles;

  template <Isa I>
  SM100_KERNEL static void prefetch(I& isa, const BlockwiseParams& params) {
    prefetch_tensormaps(isa, params.a, params.b, params.a_scales, params.c);
  }
  template <class C>
  SM100_HD static BlockwiseLoader<C> loader(const C& cfg, const BlockwiseParams& params,
                                            const ClusterPlace& place) {
    return {cfg, params, place};
  }
  template <class Scheduler>
  SM100_HD static KTileScheduler<Scheduler> work(Scheduler& scheduler) {
    return KTileScheduler<Scheduler>{scheduler};
  }
  template <Isa I, class Config, class Storage, class Scheduler>
  SM100_KERNEL static void epilogue(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                    const BlockwiseParams& params, Scheduler& scheduler) {
    blockwise_epilogue_warp(isa, cfg, group, smem, params, scheduler);
  }
};

template <Isa I, class Config>
SM100_KERNEL void blockwise_kernel(I& isa, const Config& cfg, const BlockwiseParams& params) {
  run_matmul<BlockwiseParts>(isa, cfg, params);
}

}  // namespace sm100
