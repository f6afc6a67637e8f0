// SPDX-License-Identifier: Apache-2.0
/// tcgen05.cp: which bytes of shared memory go to which cells of tensor memory, and how packed 4- and 6-bit
/// elements become bytes (PTX 9.7.16.9; figures rebuilt from CuTe, docs/instructions.md).
///
/// The source is rows of 16 or 32 bytes, addressed as a K-major operand of an MMA.  Byte b of a row goes to byte b
/// % 4 of column b / 4, in as many lanes as the shape has replicas.  Lanes and columns are relative to taddr.
#pragma once

#include "kernels/isa/smem_descriptor.h"

namespace sm100 {

/// `.shape` and `.multicast`, which belong together.
enum class TmemCopyShape : uint8_t {
  s128x256b,
  s128x128b,
  s4x256b,
  s64x128b_warpx2_02_13,
  s64x128b_warpx2_01_23,
  s32x128b_warpx4,
};

SM100_HD constexpr const char* name(TmemCopyShape shape) {
  switch (shape) {
    case TmemCopyShape::s128x256b: return "128x256b";
    case TmemCopyShape::s128x128b: return "128x128b";
    case TmemCopyShape::s4x256b: return "4x256b";
    case TmemCopyShape::s64x128b_warpx2_02_13: return "64x128b.warpx2::02_13";
    case TmemCopyShape::s64x128b_warpx2_01_23: return "64x128b.warpx2::01_23";
    case TmemCopyShape::s32x128b_warpx4: return "32x128b.warpx4";
  }
  return "?";
}

/// `.b8x16.SRC`: each 16 bytes of the source hold 16 packed elements and padding, and become 16 bytes.
enum class TmemDecompression : uint8_t {
  none,
  b6x16_p32,  ///< 12 bytes of 6-bit elements, then 4 of padding
  b4x16_p64,  ///< 8 bytes of 4-bit elements, then 8 of padding
};

SM100_HD constexpr const char* name(TmemDecompression decompression) {
  switch (decompression) {
    case TmemDecompression::none: return "";
    case TmemDecompression::b6x16_p32: return ".b8x16.b6x16_p32";
    case TmemDecompression::b4x16_p64: return ".b8x16.b4x16_p64";
  }
  return "?";
}

/// Rows of the source.
SM100_HD constexpr uint32_t copy_rows(TmemCopyShape shape) {
  switch (shape) {
    case TmemCopyShape::s128x256b:
    case TmemCopyShape::s128x128b: return 128;
    case TmemCopyShape::s4x256b: return 4;
    case TmemCopyShape::s64x128b_warpx2_02_13:
    case TmemCopyShape::s64x128b_warpx2_01_23: return 64;
    case TmemCopyShape::s32x128b_warpx4: return 32;
  }
  return 0;
}

SM100_HD constexpr uint32_t copy_row_bytes(TmemCopyShape shape) {
  return shape == TmemCopyShape::s128x256b || shape == TmemCopyShape::s4x256b ? 32 : 16;
}
SM100_HD constexpr uint32_t copy_columns(TmemCopyShape shape) { return copy_row_bytes(shape) / 4; }
/// What a CTA reads of its shared memory; decompression does not change it.
SM100_HD constexpr uint32_t copy_bytes(TmemCopyShape shape) { return copy_rows(shape) * copy_row_bytes(shape); }

/// Lanes that get the same row.
SM100_HD constexpr uint32_t copy_replicas(TmemCopyShape shape) {
  switch (shape) {
    case TmemCopyShape::s64x128b_warpx2_02_13:
    case TmemCopyShape::s64x128b_warpx2_01_23: return 2;
    case TmemCopyShape::s32x128b_warpx4: return 4;
    default: return 1;
  }
}

SM100_HD constexpr uint32_t copy_lane(TmemCopyShape shape, uint32_t row, uint32_t replica) {
  switch (shape) {
    case TmemCopyShape::s128x256b:
    case TmemCopyShape::s128x128b: return row;
    case TmemCopyShape::s4x256b: return 32 * row;
    case TmemCopyShape::s64x128b_warpx2_02_13: return row + 64 * replica;
    case TmemCopyShape::s64x128b_warpx2_01_23: return row / 32 * 64 + row % 32 + 32 * replica;
    case TmemCopyShape::s32x128b_warpx4: return row + 32 * replica;
  }
  return 0;
}

/// Address (18-bit window) of the 16 bytes with number `chunk` of a row.
SM100_HD constexpr uint32_t copy_source_address(const SmemDescriptorFields& f, uint32_t row, uint32_t chunk) {
  return operand_address(f, Major::k, 1, row, chunk * 16);
}

/// The first column is a multiple of 4 (16 bytes); only 4x256b can begin at another lane than 0.
SM100_HD constexpr bool copy_column_allowed(uint32_t column) { return column % 4 == 0; }
SM100_HD constexpr bool copy_lane_allowed(TmemCopyShape shape, uint32_t lane) {
  return lane == 0 || (shape == TmemCopyShape::s4x256b && lane < 32);
}

/// The byte of tensor memory that holds a 4- or 6-bit element of A: bits 5:2 or 5:0, an assumption
/// (docs/instructions.md).
SM100_HD constexpr uint32_t tmem_container(uint32_t element, uint32_t bits) {
  return bits == 4 ? element << 2 : element;
}

/// Element i, 0 to 15, of 16 bytes of packed elements: little-endian, the first one lowest.
SM100_HD constexpr uint32_t packed_element(const uint8_t* packed, uint32_t i, uint32_t bits) {
  const uint32_t at = i * bits;
  const uint32_t two_bytes = packed[at / 8] | uint32_t{packed[at / 8 + 1]} << 8;
  return two_bytes >> at % 8 & ((1u << bits) - 1);
}

/// Byte i of what the 16 bytes at `source` become.
SM100_HD constexpr uint32_t copied_byte(const uint8_t* source, uint32_t i, TmemDecompression decompression) {
  switch (decompression) {
    case TmemDecompression::none: return source[i];
    case TmemDecompression::b6x16_p32: return tmem_container(packed_element(source, i, 6), 6);
    case TmemDecompression::b4x16_p64: return tmem_container(packed_element(source, i, 4), 4);
  }
  return 0;
}

}  // namespace sm100
