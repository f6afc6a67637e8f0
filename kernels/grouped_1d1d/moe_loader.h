// SPDX-License-Identifier: Apache-2.0
/// What the grouped 1D-1D matmul fills a stage with: rows of tokens and of their expert's weights, and their
/// scales.
#pragma once

#include "kernels/block_scaled/tiles.h"
#include "kernels/grouped_1d1d/group_tile.h"
#include "kernels/grouped_1d1d/params.h"
#include "kernels/matmul/cluster_share.h"

namespace sm100 {

/// Nothing is multicast: the CTAs of a pair have rows of their own.  A tile that crosses its group's end brings the
/// next group's rows along; they are multiplied and dropped.
template <class Config>
class MoeLoader {
 public:
  SM100_HD MoeLoader(const Config& cfg, const Grouped1d1dParams& params, const ClusterPlace& place)
      : cfg_(cfg), params_(params), place_(place) {}

  /// The bytes of both CTAs of a pair count on the leader's barrier.
  SM100_HD bool arms() const { return place_.leads(); }

  template <Isa I, class Stage>
  SM100_KERNEL void load(I& isa, const Stage& stage, const GroupTile& tile, int k_tile) const {
    const SmemAddr barrier = leader_address(cfg_, stage.full());
    // Where the group's tokens and its expert's weights begin, and the atoms of their scales.
    const int token = tile.group.first_row, token_scales = tile.group.scale_group;
    const int weight = tile.group.expert * params_.n,
              weight_scales = tile.group.expert * ceil_div(params_.n, kScaleAtomRows);
    const bool swapped = cfg_.ab_swapped;
    const int a_row = (swapped ? weight : token) + tile.m * block_m(cfg_);
    const int b_row = (swapped ? token : weight) + tile.n * cfg_.mma_n + place_.half * block_n(cfg_);
    const int sfa_group = (swapped ? weight_scales : token_scales) + tile.m * block_m(cfg_) / kScaleAtomRows;
    // The tile may begin inside this atom.
    const int sfb_group = (swapped ? token_scales : weight_scales) + tile.n * cfg_.mma_n / kScaleAtomRows;
    const int k = k_tile * kTileRowBytes, k_atom = k_tile * scale_atoms_per_k_tile(cfg_);

    isa.cp_async_bulk_tensor_shared_global(stage.a(0).base, &params_.a, TensorCoords{k, a_row}, barrier,
                                           cfg_.cta_group);
    isa.cp_async_bulk_tensor_shared_global(stage.b(0).base, &params_.b, TensorCoords{k, b_row}, barrier,
                                           cfg_.cta_group);
    isa.cp_async_bulk_tensor_shared_global(stage.sfa.base, &params_.sfa, TensorCoords{0, k_atom, sfa_group},
                                           barrier, cfg_.cta_group);
    isa.cp_async_bulk_tensor_shared_global(stage.sfb.base, &params_.sfb, TensorCoords{0, k_atom, sfb_group},
                                           barrier, cfg_.cta_group);
  }

 private:
  const Config& cfg_;
  const Grouped1d1dParams& params_;
  ClusterPlace place_;
};

}  // namespace sm100
