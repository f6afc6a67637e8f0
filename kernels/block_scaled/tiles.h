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
  bool sfb_apart = false;    ///< SFB's bytes count on `sfb.full`, not on the stage's barrier
  RingBarriers sfb, scales;  ///< of sfb_warps.h, where there are such warps

  struct Stage : OperandTiles::Stage {
    ScaleTile sfa, sfb;
  };
  SM100_HD constexpr Stage stage(int i) const { return {OperandTiles::stage(i), sfa_tiles[i], sfb_tiles[i]}; }
  SM100_HD constexpr uint32_t stage_bytes() const {
    return OperandTiles::stage_bytes() + sfa_tiles.shape.bytes() + (sfb_apart ? 0 : sfb_tiles.shape.bytes());
  }
};

template <BlockScaled C, class Layout>
SM100_HD constexpr void place_tiles(BlockScaledTiles& tiles, const C& c, Layout& layout) {
  layout.tiles(tiles.a, a_tile(c), c.stages);
  layout.tiles(tiles.b, b_tile(c), c.stages);
  tiles.sfa_tiles.shape = sfa_tile(c), tiles.sfb_tiles.shape = sfb_tile(c);
  layout.bytes(tiles.sfa_tiles.base, uint32_t(c.stages) * sfa_tile(c).bytes(), 128);
  layout.bytes(tiles.sfb_tiles.base, uint32_t(c.stages) * sfb_tile(c).bytes(), 128);
  tiles.sfb_apart = stores_sfb(c);
  if (!tiles.sfb_apart) return;
  const uint32_t store_warps = uint32_t(sfb_store_group().warps),
                 store_threads = uint32_t(sfb_store_group().threads());
  layout.barriers(tiles.sfb.full, {.name = "sfb_full",
                                   .stages = c.stages,
                                   .count = 1,
                                   .arrives = "sfb_load",
                                   .arrives_with = "mbarrier.arrive.expect_tx",
                                   .waits = "sfb_store"});
  layout.barriers(tiles.sfb.empty, {.name = "sfb_empty",
                                    .stages = c.stages,
                                    .count = store_warps,
                                    .arrives = "sfb_store",
                                    .arrives_with = "fenced mbarrier.arrive",
                                    .waits = "sfb_load"});
  layout.barriers(tiles.scales.full, {.name = "scales_full",
                                      .stages = c.stages,
                                      .count = uint32_t(c.cta_group) * store_threads,
                                      .arrives = "sfb_store",
                                      .arrives_with = "mbarrier.arrive",
                                      .waits = "mma"});
  layout.barriers(tiles.scales.empty, {.name = "scales_empty",
                                       .stages = c.stages,
                                       .count = 1,
                                       .arrives = "mma",
                                       .arrives_with = "tcgen05.commit",
                                       .waits = "sfb_store"});
}

}  // namespace sm100
