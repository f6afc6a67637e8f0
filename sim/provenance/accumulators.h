// SPDX-License-Identifier: Apache-2.0
/// What accumulators consist of: of a list of MMAs the rows of the operands and the steps along K that they
/// multiplied.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/provenance/matrices.h"
#include "sim/provenance/record.h"

namespace sm100::sim::provenance {

/// A row of an operand matrix.
struct RowOf {
  int matrix = -1;  ///< -1: not known, kElsewhere: none of the operands
  int64_t row = 0;
  static constexpr int kElsewhere = -2, kStored = -3, kNobody = -4;
  bool operator==(const RowOf&) const = default;
  bool known() const { return matrix >= 0; }
};

/// Rows of an MMA's operand that are not what most MMAs of the accumulator have there.
struct Deviation {
  int step = 0;              ///< of the accumulator's MMAs
  int first = 0, count = 0;  ///< rows of D, or columns
  RowOf is;                  ///< of the first
};

/// One operand over all MMAs of an accumulator.
struct OperandRows {
  std::vector<RowOf> rows;  ///< by row of D, or by column
  /// By step: the elements of K; -1 where rows differ, or their pieces lie in another order.
  std::vector<int64_t> k, k_count;
  std::vector<Deviation> deviations;
  /// The first row whose 16-byte pieces are not neighbours, by step; -1: none.
  std::vector<int> scrambled;
  std::vector<int64_t> other_k;  ///< by step: another K that some rows have; -1: none has
};

struct Accumulator {
  uint32_t history = 0;
  std::vector<uint32_t> mmas;
  OperandRows a, b;
  std::vector<uint32_t> sets;  ///< of fragments that have loaded some of it
  int launch = 0;
};

OperandRows rows_over(const Record& record, const Matrices& matrices, const std::vector<uint32_t>& mmas, bool a);

/// Of a cell of tensor memory which row and column of D it is.
struct CellOfD {
  int row = -1, column = -1;  ///< -1: none of this MMA
};
CellOfD cell_of_d(const Mma& mma, int sm, uint32_t lane, uint32_t column);

}  // namespace sm100::sim::provenance
