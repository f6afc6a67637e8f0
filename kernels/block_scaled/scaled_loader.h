// SPDX-License-Identifier: Apache-2.0
/// What the block-scaled matmul fills a stage with: A and B as the dense matmul, and their scales.
#pragma once

#include "kernels/block_scaled/params.h"
#include "kernels/block_scaled/tiles.h"
#include "kernels/matmul/load_warp.h"

namespace sm100 {

/// Scales are not multicast: each CTA loads its rows' SFA and the whole MMA's SFB.
template <class Config, class Params = BlockScaledParams>
class ScaledLoader {
 public:
  SM100_HD ScaledLoader(const Config& cfg, const Params& params, const ClusterPlace& place)
      : cfg_(cfg), params_(params), operands_(cfg, params, place) {}

  SM100_HD bool arms() const { return operands_.arms(); }

  template <Isa I, class Stage>
  SM100_KERNEL void load(I& isa, const Stage& stage, const WorkTile& tile, int k_tile) const {
    operands_.load(isa, stage, tile, k_tile);
    const SmemAddr barrier = leader_address(cfg_, stage.full());
    const int k_atom = k_tile * scale_atoms_per_k_tile(cfg_);
    const int sfa_group = tile.m * block_m(cfg_) / kScaleAtomRows;
    const int sfb_group = tile.n * cfg_.mma_n / kScaleAtomRows;  // the tile may begin inside this atom
    isa.cp_async_bulk_tensor_shared_global(stage.sfa.base, map_of(params_.sfa), TensorCoords{0, k_atom, sfa_group},
                                           barrier, cfg_.cta_group);
    if (stores_sfb(cfg_)) return;  // the SFB load warp brings them
    isa.cp_async_bulk_tensor_shared_global(stage.sfb.base, map_of(params_.sfb), TensorCoords{0, k_atom, sfb_group},
                                           barrier, cfg_.cta_group);
  }

 private:
  const Config& cfg_;
  const Params& params_;
  OperandLoader<Config, Params> operands_;
};

}  // namespace sm100
