// SPDX-License-Identifier: Apache-2.0
/// Configuration of the block-scaled matmul: the dense matmul's, and the format of its operands.
///
/// What follows from a configuration is asked by the same names as the dense matmul's (kernels/matmul/config.h);
/// where the answer differs, a function of that name for BlockScaled configurations stands here.
#pragma once

#include "kernels/epilogue/block_quantizer.h"
#include "kernels/isa/scale_layout.h"
#include "kernels/matmul/config.h"

namespace sm100 {

/// Elements, scales and how many elements share one (OCP Microscaling formats, and NVFP4).
enum class BlockFormat : uint8_t {
  mxfp8,  ///< e4m3 or e5m2, a ue8m0 scale for 32
  mxfp4,  ///< e2m1, ue8m0, 32
  nvfp4,  ///< e2m1, ue4m3 or ue8m0, 16
};

SM100_HD constexpr const char* name(BlockFormat format) {
  return format == BlockFormat::mxfp8 ? "mxfp8" : format == BlockFormat::mxfp4 ? "mxfp4" : "nvfp4";
}

/// Of the base: `dtype` is the element's type, and swizzle, k_group_size, num_split_k, bias, residual, activation
/// and register_epilogue keep their defaults.
struct BlockScaledConfig : MatmulConfig {
  BlockFormat format = BlockFormat::mxfp8;
  ScaleType scale_type = ScaleType::ue8m0;
  OutputScaling scaled_output;  ///< of outputs in e2m1 and e4m3

  constexpr BlockScaledConfig() {
    dtype = DataType::e4m3;
    mma_k = 32;
  }
  constexpr bool operator==(const BlockScaledConfig&) const = default;
};

template <class C>
concept BlockScaled = requires(const C& c) {
  c.scale_type;
};

// ---- formats ----

template <BlockScaled C>
SM100_HD constexpr MmaKind mma_kind(const C& c) {
  return c.format == BlockFormat::mxfp8   ? MmaKind::mxf8f6f4
         : c.format == BlockFormat::mxfp4 ? MmaKind::mxf4
                                          : MmaKind::mxf4nvf4;
}
/// Of an element in global and shared memory: two FP4 values share a byte.
template <BlockScaled C>
SM100_HD constexpr int operand_bits(const C& c) {
  return c.format == BlockFormat::mxfp8 ? 8 : 4;
}
template <BlockScaled C>
SM100_HD constexpr const char* operand_name(const C& c) {
  return name(c.format);
}
/// Elements along K that share a scale.
template <BlockScaled C>
SM100_HD constexpr int scale_block(const C& c) {
  return c.format == BlockFormat::nvfp4 ? 16 : 32;
}
/// Scales of each row that one MMA uses.
template <BlockScaled C>
SM100_HD constexpr int scales_per_mma(const C& c) {
  return c.mma_k / scale_block(c);
}

template <BlockScaled C>
SM100_HD constexpr ScaleVec scale_vec(const C& c) {
  return ScaleVec(scales_per_mma(c));
}

// ---- tiles ----

/// Bytes of K in a tile: one swizzle span.
inline constexpr int kTileRowBytes = 128;

template <BlockScaled C>
SM100_HD constexpr int block_k(const C& c) {
  return kTileRowBytes * 8 / operand_bits(c);
}
/// In bytes: TMA and shared memory do not look at elements.
template <BlockScaled C>
SM100_HD constexpr TileShape a_tile(const C& c) {
  return {DataType::u8, block_m(c), kTileRowBytes, c.swizzle};
}
template <BlockScaled C>
SM100_HD constexpr TileShape b_tile(const C& c) {
  return {DataType::u8, block_n(c), kTileRowBytes, c.swizzle};
}

/// The scales of one k tile, in whole atoms.
struct ScaleShape {
  int groups;   ///< atoms along the rows
  int k_atoms;  ///< along K, neighbours in memory

  SM100_HD constexpr int atoms() const { return groups * k_atoms; }
  SM100_HD constexpr uint32_t bytes() const { return uint32_t(atoms()) * kScaleAtomBytes; }
  /// Of tensor memory.
  SM100_HD constexpr int columns() const { return atoms() * kScaleAtomColumns; }
  /// First column of an atom, from that of the tile: atoms of the same scales are neighbours, so that an MMA finds
  /// the scales of all its rows in a run of columns.
  SM100_HD constexpr uint32_t column(int group, int k_atom) const {
    return uint32_t((k_atom * groups + group) * kScaleAtomColumns);
  }
};

template <BlockScaled C>
SM100_HD constexpr int scale_atoms_per_k_tile(const C& c) {
  return block_k(c) / (kScaleAtomScales * scale_block(c));
}
/// SFA: the rows of this CTA.
template <BlockScaled C>
SM100_HD constexpr ScaleShape sfa_tile(const C& c) {
  return {block_m(c) / kScaleAtomRows, scale_atoms_per_k_tile(c)};
}
/// Tiles of less than 64 columns begin where no copy of whole atoms puts their scales: warps of their own store the
/// scales of B (sfb_warps.h).
template <BlockScaled C>
SM100_HD constexpr bool stores_sfb(const C& c) {
  return c.mma_n < 64;
}
/// SFB: all columns of the MMA, in both CTAs of a pair.  A tile that begins inside an atom ends inside one, too;
/// below 64 columns, in the next one where atoms are not whole numbers of tiles.
template <BlockScaled C>
SM100_HD constexpr ScaleShape sfb_tile(const C& c) {
  const int groups =
      stores_sfb(c) ? (kScaleAtomRows % c.mma_n == 0 ? 1 : 2) : align_up(c.mma_n, kScaleAtomRows) / kScaleAtomRows;
  return {groups, scale_atoms_per_k_tile(c)};
}
/// The same in tensor memory, where a tile of less than 64 columns begins with its own first row.
template <BlockScaled C>
SM100_HD constexpr ScaleShape sfb_slot(const C& c) {
  return {align_up(c.mma_n, kScaleAtomRows) / kScaleAtomRows, scale_atoms_per_k_tile(c)};
}
template <BlockScaled C>
SM100_HD constexpr uint32_t slot_bytes(const C& c) {
  return a_tile(c).bytes() + b_tile(c).bytes() + sfa_tile(c).bytes() + sfb_tile(c).bytes();
}
/// Of input_full: SFB has a barrier of its own where warps of its own wait for it.
template <BlockScaled C>
SM100_HD constexpr uint32_t stage_transaction_bytes(const C& c) {
  return uint32_t(c.cta_group) * (slot_bytes(c) - (stores_sfb(c) ? sfb_tile(c).bytes() : 0));
}

// ---- warps: the matmul's, and two more roles below 64 columns ----

inline constexpr int kSfbLoadWarp = kMatmulWarps;
/// The quarter of tensor memory's lanes that a warp may access follows from its number: four from a multiple of
/// four on.
SM100_HD constexpr WarpGroup sfb_store_group() { return {.first_warp = 8, .warps = 4, .barrier = 0}; }

template <BlockScaled C>
SM100_HD constexpr int warps(const C& c) {
  return stores_sfb(c) ? sfb_store_group().first_warp + sfb_store_group().warps : kMatmulWarps;
}
constexpr const char* block_scaled_role(int warp) {
  return warp < kMatmulWarps ? matmul_role(warp) : warp == kSfbLoadWarp ? "sfb_load" : "sfb_store";
}
template <BlockScaled C>
SM100_HD constexpr uint32_t other_tile_readers(const C& c) {
  return stores_sfb(c) ? uint32_t(kWarpLanes + sfb_store_group().threads()) : 0;
}
template <BlockScaled C>
SM100_HD constexpr const char* tile_readers(const C& c) {
  return stores_sfb(c) ? "scheduler, load, mma, epilogue, sfb_load, sfb_store" : "scheduler, load, mma, epilogue";
}
template <BlockScaled C>
SM100_HD constexpr int other_tmem_threads(const C& c) {
  return stores_sfb(c) ? sfb_store_group().threads() : 0;
}
template <BlockScaled C>
SM100_HD constexpr const char* tmem_roles(const C& c) {
  return stores_sfb(c) ? "mma, epilogue, sfb_store" : "mma, epilogue";
}

// ---- output: a strip of quantised elements is 32 columns wide ----

/// Two FP4 values share a byte.
template <BlockScaled C>
SM100_HD constexpr int output_bits(const C& c) {
  return c.output == DataType::e2m1 ? 4 : element_bits(c.output);
}
template <BlockScaled C>
SM100_HD constexpr int strip_columns(const C& c) {
  return quantises(c) ? kScaledStripColumns : widest_strip(accumulator_columns(c));
}
template <BlockScaled C>
SM100_HD constexpr uint32_t strip_row_bytes(const C& c) {
  return uint32_t(strip_columns(c) * output_bits(c) / 8);
}

// ---- tensor memory: accumulators, then a slot of SFA for each ring stage, then one of SFB ----

template <BlockScaled C>
SM100_HD constexpr int accum_stride_columns(const C& c) {
  return c.mma_n;
}
/// First column of a stage's SFA.
template <BlockScaled C>
SM100_HD constexpr uint32_t sfa_column(const C& c, int stage) {
  return uint32_t(c.accum_stages * c.mma_n + stage * sfa_tile(c).columns());
}
template <BlockScaled C>
SM100_HD constexpr uint32_t sfb_column(const C& c, int stage) {
  return sfa_column(c, c.stages) + uint32_t(stage * sfb_slot(c).columns());
}
/// All columns that the configuration uses.
template <BlockScaled C>
SM100_HD constexpr int used_columns(const C& c) {
  return int(sfb_column(c, c.stages));
}

/// The scales of a tile's first stage are copied before the wait for the accumulator.
template <BlockScaled C>
SM100_HD constexpr bool copies_scales_early(const C&) {
  return false;
}

/// As the dense matmul's, with 16 bytes more for each stage.
template <BlockScaled C>
SM100_HD constexpr int max_stages(const C& c) {
  const int rest =
      kSmemBudgetBytes - kOutputBuffers * int(strip_bytes(c)) - 12 - 160 * c.clc_stages - 16 * c.accum_stages;
  const int stages = rest / int(slot_bytes(c) + 32);
  return stages < 0 ? 0 : stages;
}

}  // namespace sm100
