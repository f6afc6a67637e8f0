// SPDX-License-Identifier: Apache-2.0
/// What the kernel has in shared memory beside the block-scaled matmul's tiles: strips of the residual, and the
/// barriers of the warp that loads them.
#pragma once

#include "kernels/block_scaled/tiles.h"
#include "kernels/cutlass_block_scaled/config.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100 {

/// Stages of a ring: a strip of the residual in each, laid out as a strip of C.
struct ResidualStrips {
  SmemAddr base;
  uint32_t bytes = 0;  ///< of a strip

  struct Stage {
    SmemAddr strip;
  };
  SM100_HD constexpr Stage stage(int i) const { return {base + uint32_t(i) * bytes}; }
  SM100_HD constexpr uint32_t stage_bytes() const { return bytes; }
};

struct CutlassTiles : BlockScaledTiles {
  ResidualStrips residual;
  RingBarriers residual_ring;  ///< residual_stages
  SmemAddr load_order;         ///< the load warp has filled the ring once
};

template <CutlassArranged C, class Layout>
SM100_HD constexpr void place_tiles(CutlassTiles& tiles, const C& c, Layout& layout) {
  place_tiles(static_cast<BlockScaledTiles&>(tiles), c, layout);
  if (!c.residual) return;
  tiles.residual.bytes = strip_bytes(c);
  layout.bytes(tiles.residual.base, uint32_t(c.residual_stages) * strip_bytes(c), 1024);
  layout.barriers(tiles.residual_ring.full, {.name = "residual_full",
                                             .stages = c.residual_stages,
                                             .count = 1,
                                             .arrives = "epilogue_load",
                                             .arrives_with = "mbarrier.arrive.expect_tx",
                                             .waits = "epilogue"});
  layout.barriers(tiles.residual_ring.empty, {.name = "residual_empty",
                                              .stages = c.residual_stages,
                                              .count = uint32_t(cutlass_epilogue_group().threads()),
                                              .arrives = "epilogue",
                                              .arrives_with = "fenced mbarrier.arrive",
                                              .waits = "epilogue_load"});
  layout.barriers(tiles.load_order, {.name = "load_order",
                                     .stages = 1,
                                     .count = 1,
                                     .arrives = "load",
                                     .arrives_with = "mbarrier.arrive",
                                     .waits = "epilogue_load"});
}

using CutlassStorage = MatmulStorage<CutlassTiles>;

}  // namespace sm100
