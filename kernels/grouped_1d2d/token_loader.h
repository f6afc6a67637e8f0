// SPDX-License-Identifier: Apache-2.0
/// What the grouped 1D-2D matmul fills a stage with: rows of tokens with their scales, and rows of their expert's
/// weights.
#pragma once

#include "kernels/blockwise/tiles.h"
#include "kernels/grouped_1d1d/group_tile.h"
#include "kernels/grouped_1d2d/params.h"
#include "kernels/matmul/cluster_share.h"

namespace sm100 {

/// Nothing is multicast: the CTAs of a pair have rows of their own.  A tile that crosses its group's end brings the
/// next group's rows and scales along; their products are dropped.
template <class Config>
class TokenLoader {
 public:
  SM100_HD TokenLoader(const Config& cfg, const Grouped1d2dParams& params, const ClusterPlace& place)
      : cfg_(cfg), params_(params), place_(place) {}

  /// The bytes of both CTAs of a pair count on the leader's barrier.
  SM100_HD bool arms() const { return place_.leads(); }

  template <Isa I, class Stage>
  SM100_KERNEL void load(I& isa, const Stage& stage, const GroupTile& tile, int k_tile) const {
    const SmemAddr barrier = leader_address(cfg_, stage.full());
    const int token = tile.first_token(cfg_), k = k_tile * block_k(cfg_);
    const int scale = tile.group.scale_group + (token - tile.group.first_row);
    const int weight = tile.group.expert * params_.n + tile.n * cfg_.mma_n + place_.half * block_n(cfg_);
    isa.cp_async_bulk_tensor_shared_global(stage.a(0).base, &params_.a, TensorCoords{k, token}, barrier,
                                           cfg_.cta_group);
    isa.cp_async_bulk_tensor_shared_global(stage.b(0).base, &params_.b, TensorCoords{k, weight}, barrier,
                                           cfg_.cta_group);
    isa.cp_async_bulk_tensor_shared_global(stage.a_scales.base, &params_.a_scales,
                                           TensorCoords{scale, k_block_of(cfg_, k_tile)}, barrier, cfg_.cta_group);
  }

 private:
  const Config& cfg_;
  const Grouped1d2dParams& params_;
  ClusterPlace place_;
};

}  // namespace sm100
