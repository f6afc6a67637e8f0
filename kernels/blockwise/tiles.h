// SPDX-License-Identifier: Apache-2.0
/// What a ring stage of the blockwise matmul holds: a k tile of A and of B, and the scales of A's rows.
#pragma once

#include "kernels/blockwise/config.h"
#include "kernels/pipeline/input_ring.h"

namespace sm100 {

/// Scales of the rows of a tile, one after the other.
struct RowScaleTile {
  SmemAddr base;

  SM100_HD constexpr SmemAddr of_row(const Blockwise auto& cfg, int row) const {
    return base + uint32_t(row) * bytes_per_scale(cfg);
  }
};

struct BlockwiseTiles : OperandTiles {
  SmemAddr a_scales;          ///< of stage 0
  uint32_t a_scales_bytes{};  ///< of a stage

  struct Stage : OperandTiles::Stage {
    RowScaleTile a_scales;
  };
  SM100_HD constexpr Stage stage(int i) const {
    return {OperandTiles::stage(i), {a_scales + uint32_t(i) * a_scales_bytes}};
  }
  SM100_HD constexpr uint32_t stage_bytes() const { return OperandTiles::stage_bytes() + a_scales_bytes; }
};

template <Blockwise C, class Layout>
SM100_HD constexpr void place_tiles(BlockwiseTiles& tiles, const C& c, Layout& layout) {
  layout.tiles(tiles.a, a_tile(c), c.stages);
  layout.tiles(tiles.b, b_tile(c), c.stages);
  tiles.a_scales_bytes = a_scales_bytes(c);
  layout.bytes(tiles.a_scales, uint32_t(c.stages) * a_scales_bytes(c), 128);
}

}  // namespace sm100
