// SPDX-License-Identifier: Apache-2.0
/// The block-scaled matmul kernel (MXFP8, MXFP4, NVFP4): the dense matmul's roles with other stages, loads and
/// MMAs.
#pragma once

#include "kernels/block_scaled/scaled_loader.h"
#include "kernels/block_scaled/scaled_mmas.h"
#include "kernels/block_scaled/sfb_warps.h"
#include "kernels/epilogue/scaled_output.h"
#include "kernels/matmul/matmul_kernel.h"

namespace sm100 {

using BlockScaledStorage = MatmulStorage<BlockScaledTiles>;

/// What differs from the dense matmul's.
struct BlockScaledParts : DenseParts {
  using Tiles = BlockScaledTiles;

  template <Isa I>
  SM100_KERNEL static void prefetch(I& isa, const BlockScaledParams& params) {
    prefetch_tensormaps(isa, params.a, params.b, params.sfa, params.sfb, params.c);
  }
  template <class C>
  SM100_HD static ScaledLoader<C> loader(const C& cfg, const BlockScaledParams& params, const ClusterPlace& place) {
    return {cfg, params, place};
  }
  template <class C>
  SM100_HD static ScaledMmas<C> issuer(const C& cfg) {
    return ScaledMmas<C>{cfg};
  }
  template <Isa I, class C, class Storage, class Scheduler>
  SM100_KERNEL static void other_roles(I& isa, const C& cfg, const Storage& smem, const BlockScaledParams& params,
                                       Scheduler& scheduler) {
    if (!stores_sfb(cfg)) return;
    const int warp = isa.warpid();
    if (warp == kSfbLoadWarp)
      sfb_load_warp(isa, cfg, sfb_ring(isa, cfg, smem.tiles), SharedSfbMap{params.sfb}, scheduler);
    if (sfb_store_group().has(warp)) sfb_store_warp(isa, cfg, smem, own_place(isa, cfg), scheduler);
  }
};

/// Quantised, or as the dense matmul.
template <Isa I, BlockScaled Config>
SM100_KERNEL void write_output(I& isa, const Config& cfg, const WarpGroup& group, OutputRing<I>& ring,
                               const BlockScaledParams& params, const OutputTile<>& tile) {
  if (quantises(cfg))
    write_scaled_tile(isa, cfg, group, ring, params.scaled_output, tile);
  else
    write_tile(isa, cfg, group, ring, tile);
}

template <Isa I, class Config>
SM100_KERNEL void block_scaled_kernel(I& isa, const Config& cfg, const BlockScaledParams& params) {
  run_matmul<BlockScaledParts>(isa, cfg, params);
}

}  // namespace sm100
