// SPDX-License-Identifier: Apache-2.0
/// Tensor memory: which cell a register of tcgen05.ld / .st is, and where tcgen05.mma puts D(m, n).
/// Source: PTX 9.7.16 (tensor memory, data movement shapes, data-path layouts); figures rebuilt from CuTe.
/// Lanes and columns are relative to taddr.  Not here: layout C (M 128, cta_group::2, sparse).
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

struct TmemCell {
  uint32_t lane = 0, column = 0;
  constexpr bool operator==(const TmemCell&) const = default;
};

/// `.32x32b` … `.16x32bx2`.
enum class TmemShape : uint8_t { s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2 };

SM100_HD constexpr const char* name(TmemShape shape) {
  switch (shape) {
    case TmemShape::s32x32b: return "32x32b";
    case TmemShape::s16x64b: return "16x64b";
    case TmemShape::s16x128b: return "16x128b";
    case TmemShape::s16x256b: return "16x256b";
    case TmemShape::s16x32bx2: return "16x32bx2";
  }
  return "?";
}

SM100_HD constexpr int registers_per_thread(TmemShape shape, int repeat) {
  if (shape == TmemShape::s16x128b) return 2 * repeat;
  if (shape == TmemShape::s16x256b) return 4 * repeat;
  return repeat;
}

/// `.xN`: a power of two, and at most 128 registers.
SM100_HD constexpr bool repeat_allowed(TmemShape shape, int repeat) {
  return repeat > 0 && (repeat & (repeat - 1)) == 0 && registers_per_thread(shape, repeat) <= 128;
}

/// Columns that each lane gives or takes.  16x32bx2 has two such runs: at 0 and at its immediate.
SM100_HD constexpr int columns_spanned(TmemShape shape, int repeat) {
  switch (shape) {
    case TmemShape::s32x32b: return repeat;
    case TmemShape::s16x64b: return 2 * repeat;
    case TmemShape::s16x128b: return 4 * repeat;
    case TmemShape::s16x256b: return 8 * repeat;
    case TmemShape::s16x32bx2: return repeat;
  }
  return 0;
}

/// Cell of register `reg` of thread `lane`; `imm` is the column offset of 16x32bx2's second half.
SM100_HD constexpr TmemCell tmem_cell(TmemShape shape, int lane, int reg, int imm = 0) {
  const uint32_t t = static_cast<uint32_t>(lane), r = static_cast<uint32_t>(reg);
  switch (shape) {
    case TmemShape::s32x32b: return {t, r};
    case TmemShape::s16x64b: return {t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * r};
    case TmemShape::s16x128b: return {t / 4 + 8 * (r % 2), t % 4 + 4 * (r / 2)};
    case TmemShape::s16x256b: return {t / 4 + 8 * (r / 2 % 2), r % 2 + 2 * (t % 4) + 8 * (r / 4)};
    case TmemShape::s16x32bx2: return {t % 16, r + (t < 16 ? 0 : static_cast<uint32_t>(imm))};
  }
  return {};
}

/// PTX's names for the data-path organisations of D.
enum class DataPathLayout : uint8_t {
  a,  ///< M 256, cta_group::2
  b,  ///< M 128, cta_group::2: the column halves side by side in the lanes
  d,  ///< M 128, cta_group::1 (and .ws M 128)
  e,  ///< M 64, .ws
  f,  ///< M 64, cta_group::1: half of the lanes; taddr lane 0 or 16
  g,  ///< M 32, .ws
};

struct AccumulatorCell {
  uint32_t cta = 0;  ///< rank within the pair; 0 for cta_group::1
  uint32_t lane = 0, column = 0;
  constexpr bool operator==(const AccumulatorCell&) const = default;
};

/// Cell of D(row m, column n) of an M x N instruction.  f16 accumulators take a whole cell each, too.
SM100_HD constexpr AccumulatorCell accumulator_cell(DataPathLayout layout, int m, int n, int N) {
  const uint32_t row = static_cast<uint32_t>(m), col = static_cast<uint32_t>(n);
  const uint32_t half = static_cast<uint32_t>(N) / 2, quarter = static_cast<uint32_t>(N) / 4;
  switch (layout) {
    case DataPathLayout::a: return {row / 128, row % 128, col};
    case DataPathLayout::b: return {row / 64, row % 64 + 64 * (col / half), col % half};
    case DataPathLayout::d: return {0, row, col};
    case DataPathLayout::e: return {0, row + 64 * (col / half), col % half};
    case DataPathLayout::f: return {0, row % 16 + 32 * (row / 16), col};
    case DataPathLayout::g: return {0, row + 32 * (col / quarter), col % quarter};
  }
  return {};
}

/// Layout of an instruction, `ws` of one with .ws.  M must be legal for the group (instr_descriptor.h validates).
/// Of a sparse one with M = 128 over a pair it is another (PTX: layout C), which is only in a figure.
SM100_HD constexpr DataPathLayout data_path_layout(int m, int cta_group, bool ws = false) {
  if (ws) return m == 32 ? DataPathLayout::g : m == 64 ? DataPathLayout::e : DataPathLayout::d;
  if (cta_group == 2) return m == 256 ? DataPathLayout::a : DataPathLayout::b;
  return m == 64 ? DataPathLayout::f : DataPathLayout::d;
}

/// Columns that D occupies in each CTA.
SM100_HD constexpr uint32_t accumulator_columns(DataPathLayout layout, uint32_t n) {
  if (layout == DataPathLayout::b || layout == DataPathLayout::e) return n / 2;
  return layout == DataPathLayout::g ? n / 4 : n;
}

/// Columns of scale factors that a block-scaled MMA reads in each CTA: a column for 32 rows of A, and for 32 of B.
/// With M = 128 of a pair B's two halves lie in the two halves of the lanes (PTX 9.7.16.10.7; CuTe).
SM100_HD constexpr uint32_t scale_columns_a(int m, int cta_group) {
  return (static_cast<uint32_t>(m) / static_cast<uint32_t>(cta_group) + 31) / 32;
}
SM100_HD constexpr uint32_t scale_columns_b(int m, int n, int cta_group) {
  const uint32_t columns = cta_group == 2 && m == 128 ? static_cast<uint32_t>(n) / 2 : static_cast<uint32_t>(n);
  return (columns + 31) / 32;
}

/// tcgen05.alloc takes a power of two from 32 to 512.
SM100_HD constexpr bool tmem_columns_allocatable(uint32_t n) { return n >= 32 && n <= 512 && (n & (n - 1)) == 0; }

}  // namespace sm100
