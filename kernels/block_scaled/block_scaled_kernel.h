// SPDX-License-Identifier: Apache-2.0
/// The block-scaled matmul kernel (MXFP8, MXFP4, NVFP4): the dense matmul's roles with other stages, loads and
/// MMAs.
#pragma once

#include "kernels/block_scaled/scaled_loader.h"
#include "kernels/block_scaled/scaled_mmas.h"
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
};

template <Isa I, class Config>
SM100_KERNEL void block_scaled_kernel(I& isa, const Config& cfg, const BlockScaledParams& params) {
  run_matmul<BlockScaledParts>(isa, cfg, params);
}

}  // namespace sm100
