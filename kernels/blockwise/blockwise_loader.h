// SPDX-License-Identifier: Apache-2.0
/// What the blockwise matmul fills a stage with: A and B as the dense matmul, and the scales of A's rows.
#pragma once

#include "kernels/blockwise/params.h"
#include "kernels/blockwise/tiles.h"
#include "kernels/matmul/load_warp.h"

namespace sm100 {

/// Scales are not multicast: each CTA loads those of its own rows.
template <class Config>
class BlockwiseLoader {
 public:
  SM100_HD BlockwiseLoader(const Config& cfg, const BlockwiseParams& params, const ClusterPlace& place)
      : cfg_(cfg), params_(params), operands_(cfg, params, place) {}

  SM100_HD bool arms() const { return operands_.arms(); }

  template <Isa I, class Stage>
  SM100_KERNEL void load(I& isa, const Stage& stage, const WorkTile& tile, int k_tile) const {
    operands_.load(isa, stage, tile, k_tile);
    isa.cp_async_bulk_tensor_shared_global(stage.a_scales.base, &params_.a_scales,
                                           TensorCoords{tile.m * block_m(cfg_), k_block_of(cfg_, k_tile)},
                                           leader_address(cfg_, stage.full()), cfg_.cta_group);
  }

 private:
  const Config& cfg_;
  const BlockwiseParams& params_;
  OperandLoader<Config> operands_;
};

}  // namespace sm100
