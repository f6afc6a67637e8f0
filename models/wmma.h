// SPDX-License-Identifier: Apache-2.0
/// wmma.load, wmma.mma, wmma.store: matrix products of one warp, the older instructions (PTX 9.7.14.4).
///
/// Shapes: m16n16k16, m8n32k16, m32n8k16 of f16 (C and D each f16 or f32), bf16, s8 and u8; m16n16k8 of tf32;
/// m8n8k4 of f64, .rn; m8n8k32 of s4 and u4; m8n8k128 of b1.  Not here: .satfinite of f16, which PTX no longer has,
/// and other roundings of f64.
///
/// wmma.mma is what ptxas 13.0 makes of it for sm_90a and sm_100a: a mma.sync of m8n8, or two m16n8 side by side,
/// of tf32 two for each half of K, one behind the other.  Of m8n32 the operands change places: B transposed is the
/// one with 16 rows.  C of f16 beside D of f32 is widened in front, C of f32 beside D of f16 rounded behind.
///
/// Fragments, which PTX leaves open, are those of the mma.sync, side by side; of f16 the registers of A and B that
/// this does not fill repeat the others.  Which register goes where in a wmma.mma, and which accesses a load and a
/// store are, was read in ptxas's instructions; wmma_place() has it all.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/mma_sync.h"

namespace sm100::models {

/// What wmma.load brings and wmma.store takes: the part of a matrix that a warp holds, 1, 2, 4 or 8 registers a
/// lane.
struct WmmaFragment {
  enum class Matrix : uint8_t { a, b, c };  ///< c: C and D
  Matrix matrix = Matrix::a;
  int m = 0, n = 0, k = 0;
  MmaSyncForm::Type type = MmaSyncForm::Type::f16;  ///< of A and B
  MmaSyncForm::Sum sum = MmaSyncForm::Sum::f32;     ///< of C and D
  bool row_major = true;

  bool is_sum() const { return matrix == Matrix::c; }
  int element_bits() const;
  int elements() const { return element_bits() < 32 ? 32 / element_bits() : 1; }  ///< of a register
  int registers() const;
  int distinct_registers() const;  ///< the others repeat them
  int register_bytes() const { return element_bits() == 64 ? 8 : 4; }
  uint32_t bytes() const { return uint32_t(registers() * register_bytes()); }  ///< of a lane: what PTX aligns to
  int rows() const { return matrix == Matrix::b ? k : m; }
  int columns() const { return matrix == Matrix::a ? k : n; }
  /// Rows, or columns of a column-major matrix: what lies in memory without gaps.
  int lines() const { return row_major ? rows() : columns(); }
  int line_elements() const { return row_major ? columns() : rows(); }
};

/// The element that register r of a lane holds at place e, from the lowest bits on.
struct WmmaPlace {
  int row, column;
};
WmmaPlace wmma_place(const WmmaFragment& fragment, int lane, int r, int e);

struct WmmaForm {
  int m = 0, n = 0, k = 0;
  MmaSyncForm::Type type = MmaSyncForm::Type::f16;
  MmaSyncForm::Sum c = MmaSyncForm::Sum::f32, d = MmaSyncForm::Sum::f32;
  bool saturate = false;
  MmaSyncForm::BitOp bit_op = MmaSyncForm::BitOp::none;

  WmmaFragment fragment(WmmaFragment::Matrix matrix, MmaSyncForm::Sum sum) const {
    return {matrix, m, n, k, type, sum, true};
  }
  int a_registers() const { return fragment(WmmaFragment::Matrix::a, d).registers(); }
  int b_registers() const { return fragment(WmmaFragment::Matrix::b, d).registers(); }
  int c_registers() const { return fragment(WmmaFragment::Matrix::c, c).registers(); }
  int d_registers() const { return fragment(WmmaFragment::Matrix::c, d).registers(); }
};

/// Forms that the modifiers behind "wmma" name, with their dots; nullopt: none of the above.
std::optional<WmmaForm> wmma_form(const std::vector<std::string_view>& modifiers);          ///< ".mma" …
std::optional<WmmaFragment> wmma_fragment(const std::vector<std::string_view>& modifiers);  ///< ".load", ".store" …

/// What a wmma.mma takes.
MmaSyncCycles wmma_cycles(const WmmaForm& form, const DeviceProfile& profile);

/// D = A * B + C of a warp.  All: [lane * registers + r], each register zero-extended to 64 bits.
void wmma(const WmmaForm& form, Accumulation accumulation, MmaSyncCore core, const uint64_t* a, const uint64_t* b,
          const uint64_t* c, uint64_t* d);

}  // namespace sm100::models
