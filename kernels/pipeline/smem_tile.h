// SPDX-License-Identifier: Apache-2.0
/// Tiles in shared memory, as TMA writes them and the tensor core reads them: K-major, with a type.
///
/// A tile lies slab by slab.  A slab is what all rows have in one swizzle span of bytes along K; without swizzle in
/// one core matrix, 16 bytes.  Most tiles are one slab.  What an instruction takes of a tile (an address, a
/// descriptor) is made where the instruction is issued.
#pragma once

#include "kernels/isa/number_formats.h"
#include "kernels/isa/smem_descriptor.h"

namespace sm100 {

inline constexpr uint32_t kMmaKBytes = 32;  ///< bytes of K that one tcgen05.mma takes of each row

struct TileShape {
  DataType type;
  int rows, columns;  ///< columns along K
  Swizzle swizzle;

  SM100_HD constexpr uint32_t bytes() const { return uint32_t(rows * columns * (element_bits(type) / 8)); }
  SM100_HD constexpr uint32_t slab_row_bytes() const {
    return swizzle == Swizzle::none ? 16 : swizzle_span_bytes(swizzle);
  }
  SM100_HD constexpr uint32_t slab_bytes() const { return uint32_t(rows) * slab_row_bytes(); }
  SM100_HD constexpr int slab_columns() const { return int(slab_row_bytes()) / (element_bits(type) / 8); }
  SM100_HD constexpr int slabs() const { return columns / slab_columns(); }
};

struct SmemTile {
  SmemAddr base;
  TileShape shape;

  /// Of a tile of one slab.  Slices of fewer than 8 rows begin inside a swizzle atom: legal, because the swizzle
  /// follows address bits.
  SM100_HD constexpr SmemTile rows(int first, int count) const {
    return {base + uint32_t(first) * shape.slab_row_bytes(), {shape.type, count, shape.columns, shape.swizzle}};
  }
  /// Part i of `parts` equal ones: what one of the CTAs that share the tile loads.
  SM100_HD constexpr SmemTile slice(int i, int parts) const {
    return rows(i * (shape.rows / parts), shape.rows / parts);
  }
  SM100_HD constexpr SmemTile slab(int i) const {
    return {base + uint32_t(i) * shape.slab_bytes(), {shape.type, shape.rows, shape.slab_columns(), shape.swizzle}};
  }
  /// Where the operand of MMA number `step` begins: kMmaKBytes further along K for each.  Without swizzle an MMA
  /// takes two slabs.
  SM100_HD constexpr SmemAddr k_step(int step) const {
    if (shape.swizzle == Swizzle::none) return base + 2 * uint32_t(step) * shape.slab_bytes();
    const uint32_t per_slab = shape.slab_row_bytes() / kMmaKBytes;
    return base + uint32_t(step) / per_slab * shape.slab_bytes() + kMmaKBytes * (uint32_t(step) % per_slab);
  }
};

/// `base` onwards: tiles of one shape, one after the other.
struct TileArray {
  SmemAddr base;
  TileShape shape;

  SM100_HD constexpr SmemTile operator[](int i) const { return {base + uint32_t(i) * shape.bytes(), shape}; }
};

/// The operand of tcgen05.mma that begins at `start` in a tile of this shape (PTX 9.7.16, canonical layouts).
/// Swizzled, groups of 8 rows lie 8 spans apart; without swizzle the stride byte offset leads to the next 8 rows
/// and the leading byte offset to the next core matrix along K.
SM100_HD constexpr SmemDescriptor operand_descriptor(const TileShape& shape, SmemAddr start) {
  if (shape.swizzle == Swizzle::none) return make_smem_descriptor(start, shape.slab_bytes(), 8 * 16, Swizzle::none);
  return make_smem_descriptor(start, 16, 8 * shape.slab_row_bytes(), shape.swizzle);
}
/// Of the first MMA; inside a slab the next ones advance() it by kMmaKBytes, which stays in the swizzle atom's row.
SM100_HD constexpr SmemDescriptor operand_descriptor(const SmemTile& tile) {
  return operand_descriptor(tile.shape, tile.base);
}
/// Of MMA number `step`, in any slab.
SM100_HD constexpr SmemDescriptor operand_descriptor(const SmemTile& tile, int step) {
  return operand_descriptor(tile.shape, tile.k_step(step));
}

}  // namespace sm100
