// SPDX-License-Identifier: Apache-2.0
/// Configuration of the blockwise matmul: the dense matmul's on FP8, and what its scales add.
///
/// What follows from a configuration is asked by the same names as the dense matmul's (kernels/matmul/config.h);
/// where the answer differs, a function of that name for Blockwise configurations stands here.
#pragma once

#include "kernels/matmul/config.h"

namespace sm100 {

/// Of the base: k_group_size, num_split_k, ab_swapped, pdl, and all of the functor keep their defaults.
struct BlockwiseConfig : MatmulConfig {
  /// Elements along K that share a scale: of a row of A, or of a block of as many rows of B.
  static constexpr int scale_block = 128;
  DataType scale_dtype = DataType::f32;  ///< of the scales of A and B: f32 or bf16

  constexpr BlockwiseConfig() {
    dtype = DataType::e4m3;
    mma_k = 32;
  }
  constexpr bool operator==(const BlockwiseConfig&) const = default;
};

/// Scales that the epilogue multiplies with; those of BlockScaled configurations are the MMA's.
template <class C>
concept Blockwise = requires {
  C::scale_block;
};

template <Blockwise C>
SM100_HD constexpr uint32_t bytes_per_scale(const C& c) {
  return uint32_t(element_bits(c.scale_dtype)) / 8;
}

// ---- A's scales: a row of them for each k block

/// Of a stage: one for each row of this CTA's tile of A.
template <Blockwise C>
SM100_HD constexpr uint32_t a_scales_bytes(const C& c) {
  return uint32_t(block_m(c)) * bytes_per_scale(c);
}
/// Rows of the scale tensor begin at multiples of 16 bytes: of so many scales.
template <Blockwise C>
SM100_HD constexpr int scales_of_16_bytes(const C& c) {
  return int(16 / bytes_per_scale(c));
}
template <Blockwise C>
SM100_HD constexpr uint32_t slot_bytes(const C& c) {
  return a_tile(c).bytes() + b_tile(c).bytes() + a_scales_bytes(c);
}
/// The block that a k tile is (part) of.
template <Blockwise C>
SM100_HD constexpr int k_block_of(const C& c, int k_tile) {
  return k_tile * block_k(c) / C::scale_block;
}
/// Every epilogue warp hands a stage's scales back with as many lanes as the cluster has CTAs, all to its own CTA.
template <Blockwise C>
SM100_HD constexpr int epilogue_arrivals_per_stage(const C& c) {
  return epilogue_group().warps * cluster_size(c);
}

// ---- B's scales: one for each block of rows and each k block

/// Blocks of B's rows that begin inside the tile's columns or before them: two at most (kernels/blockwise/host).
template <Blockwise C>
SM100_HD constexpr int first_n_block(const C& c, int tile_n) {
  return tile_n * c.mma_n / C::scale_block;
}
/// Which of a tile's one or two blocks a column is of.
/// @param column  of the output
template <Blockwise C>
SM100_HD constexpr int n_block_in_tile(const C& c, int tile_n, int column) {
  return column / C::scale_block - first_n_block(c, tile_n);
}
/// Most blocks that any tile's columns are of: tiles begin at multiples of what mma_n and the block have in common.
template <Blockwise C>
SM100_HD constexpr int n_blocks_per_tile(const C& c) {
  int common = C::scale_block;
  while (c.mma_n % common != 0) common /= 2;
  return (C::scale_block - common + c.mma_n + C::scale_block - 1) / C::scale_block;
}

// ---- registers

/// A thread's sums of a tile: all that its warp takes from an accumulator.
template <Blockwise C>
SM100_HD constexpr int sum_registers(const C& c) {
  return accumulator_columns(c) / 2 * (has_lower_fragment(c) ? 2 : 1);
}

}  // namespace sm100
