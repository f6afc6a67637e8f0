// SPDX-License-Identifier: Apache-2.0
/// What a ring stage of the block-scaled matmul holds: a k tile of A and of B, and their scales.
#pragma once

#include "kernels/block_scaled/config.h"
#include "kernels/pipeline/input_ring.h"

namespace sm100 {

/// The scales of a k tile in shared memory: atoms of 128 rows one after the other along K, then the next rows'.
struct ScaleTile {
  SmemAddr base;
  ScaleShape shape;

  SM100_HD constexpr SmemAddr atom(int group, int k_atom) const {
    return base + uint32_t(group * shape.k_atoms + k_atom) * kScaleAtomBytes;
  }
};

/// `base` onwards: tiles of one shape, one after the other.
struct ScaleTileArray {
  SmemAddr base;
  ScaleShape shape;

  SM100_HD constexpr ScaleTile operator[](int i) const { return {base + uint32_t(i) * shape.bytes(), shape}; }
};

struct BlockScaledTiles : OperandTiles {
  ScaleTileArray sfa_tiles, sfb_tiles;

  struct Stage : OperandTiles::Stage {
    ScaleTile sfa, sfb;
  };
  SM100_HD constexpr Stage stage(int i) const { return {OperandTiles::stage(i), sfa_tiles[i], sfb_tiles[i]}; }
  SM100_HD constexpr uint32_t stage_bytes() const {
    return OperandTiles::stage_bytes() + sfa_tiles.shape.bytes() + sfb_tiles.shape.bytes();
  }
};

template <BlockScaled C, class Layout>
SM100_HD constexpr void place_tiles(BlockScaledTiles& tiles, const C& c, Layout& layout) {
  layout.tiles(tiles.a, a_tile(c), c.stages);
  layout.tiles(tiles.b, b_tile(c), c.stages);
  tiles.sfa_tiles.shape = sfa_tile(c), tiles.sfb_tiles.shape = sfb_tile(c);
  layout.bytes(tiles.sfa_tiles.base, uint32_t(c.stages) * sfa_tile(c).bytes(), 128);
  layout.bytes(tiles.sfb_tiles.base, uint32_t(c.stages) * sfb_tile(c).bytes(), 128);
}

}  // namespace sm100
