// SPDX-License-Identifier: Apache-2.0
/// Blocks of C that share a scale, as an epilogue that quantises should see them: their elements before they are
/// quantised, and their scales.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/host/expected_product.h"
#include "sim/provenance/guesses.h"

namespace sm100::sim::provenance {

/// A scale as it should be: of a row (or column) of C, and a block of it.
struct OutputBlock {
  int row = 0, block = 0;
  uint8_t code = 0;
  float largest = 0;       ///< magnitude
  size_t first_value = 0;  ///< of `OutputBlocks::values`
};

class OutputBlocks {
 public:
  /// Of which every element was loaded.
  OutputBlocks(const ElementSums& sums, const host::ExpectedOutputScales& scales);

  /// By row, then block.
  const std::vector<OutputBlock>& all() const { return all_; }
  /// nullptr: not all of it was loaded, or C has no such element.
  /// @param row, column  of C
  const OutputBlock* of(int64_t row, int64_t column) const;
  /// What is quantised there.
  std::optional<double> value(int64_t row, int64_t column) const;
  /// `scales().block` of them.
  const float* values(const OutputBlock& block) const { return values_.data() + block.first_value; }
  const host::ExpectedOutputScales& scales() const { return scales_; }
  /// Block of a row of the scale tensor; nullptr: there is none.
  const OutputBlock* at(int64_t row, int64_t block) const;

 private:
  const host::ExpectedOutputScales& scales_;
  std::vector<OutputBlock> all_;
  std::vector<int32_t> index_;  ///< by row and block, of `all_`; -1: none
  std::vector<float> values_;
};

/// Atoms that have the scales of a row.
inline int scale_atoms(const host::ExpectedOutputScales& scales) {
  return (scales.blocks + kScaleAtomScales - 1) / kScaleAtomScales;
}

}  // namespace sm100::sim::provenance
