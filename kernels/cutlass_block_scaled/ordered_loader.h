// SPDX-License-Identifier: Apache-2.0
/// What the load warp fills a stage with: as the block-scaled matmul.  Once the ring is full for the first time,
/// the epilogue load warp may begin: its strips are needed later than the first tiles.
#pragma once

#include "kernels/block_scaled/scaled_loader.h"
#include "kernels/cutlass_block_scaled/params.h"
#include "kernels/cutlass_block_scaled/tiles.h"

namespace sm100 {

template <class Config>
class OrderedLoader {
 public:
  SM100_HD OrderedLoader(const Config& cfg, const CutlassBlockScaledParams& params, const ClusterPlace& place,
                         SmemAddr load_order)
      : cfg_(cfg), loader_(cfg, params, place), load_order_(load_order) {}

  SM100_HD bool arms() const { return loader_.arms(); }

  /// Only the first tile tells.
  template <Isa I>
  SM100_KERNEL void begin_tile(I&, const WorkTile& tile, Loc) {
    const int filling = tile.k_count < cfg_.stages ? tile.k_count : cfg_.stages;
    tells_at_ = begun_ ? -1 : tile.k_begin + filling - 1;
    begun_ = true;
  }

  template <Isa I, class Stage>
  SM100_KERNEL void load(I& isa, const Stage& stage, const WorkTile& tile, int k_tile) const {
    loader_.load(isa, stage, tile, k_tile);
    if (cfg_.residual && k_tile == tells_at_) isa.mbarrier_arrive(load_order_, Scope::cta);
  }

 private:
  const Config& cfg_;
  ScaledLoader<Config> loader_;
  SmemAddr load_order_;
  int tells_at_ = -1;
  bool begun_ = false;
};

}  // namespace sm100
