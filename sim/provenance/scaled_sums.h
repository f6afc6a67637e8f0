// SPDX-License-Identifier: Apache-2.0
/// Sums of products that an epilogue multiplies by scales of blocks: an element of C is the sum over parts of K of
/// x * scale of A * scale of B.  A part is a block of K that shares scales, or a piece of one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/expected_product.h"
#include "sim/provenance/guesses.h"

namespace sm100::sim::provenance {

/// Scales of one operand, and what lies around them in the same tensor: those of other products.
class ScaleValues {
 public:
  /// Bytes of global memory.
  struct Range {
    uint64_t begin = 0, end = 0;
  };
  /// @param blocks  of K
  static Range range_of(const host::ExpectedMatrix& m, int64_t blocks);

  /// @param bytes  of that range, which has all of the matrix
  ScaleValues(const host::ExpectedMatrix& m, int64_t blocks, Range range, const uint8_t* bytes);

  /// By place in memory, from this product's first scale on; nothing: outside.
  std::optional<double> at(int64_t i) const;
  std::optional<uint32_t> bits_at(int64_t i) const;
  int64_t index(int64_t row, int64_t block) const { return row * row_pitch_ + block * block_pitch_; }
  int64_t row_pitch() const { return row_pitch_; }
  int64_t block_pitch() const { return block_pitch_; }
  int64_t rows() const { return rows_; }
  int64_t blocks() const { return blocks_; }
  /// Of the places that `at` knows.
  int64_t first() const { return -before_; }
  int64_t last() const { return int64_t(bits_.size()) - before_ - 1; }
  DataType type() const { return type_; }
  uint64_t address() const { return address_; }

 private:
  std::vector<uint32_t> bits_;  ///< in the order of memory
  int64_t before_ = 0;          ///< of them lie ahead of this product's
  int64_t row_pitch_ = 1, block_pitch_ = 1, rows_ = 0, blocks_ = 0;
  DataType type_{};
  uint64_t address_ = 0;
};

/// A scale of an element and a part of K; nothing: nobody knows what lies there.
using ScaleOf = std::function<std::optional<double>(const WrongValue&, int64_t part)>;

class ScaledSums {
 public:
  ScaledSums(const host::ExpectedBlockScales& scales, const ElementSums& sums, int64_t parts_per_block,
             ScaleValues a, ScaleValues b)
      : size_(scales.size),
        factor_(scales.factor),
        sums_(sums),
        parts_per_block_(parts_per_block),
        a_(std::move(a)),
        b_(std::move(b)) {}

  const ElementSums& sums() const { return sums_; }
  int64_t parts() const { return sums_.parts; }
  int64_t parts_per_block() const { return parts_per_block_; }
  int64_t block_of(int64_t part) const { return part / parts_per_block_; }
  /// Columns that share a scale of B.
  int64_t size() const { return size_; }
  double factor() const { return factor_; }
  const ScaleValues& a() const { return a_; }
  const ScaleValues& b() const { return b_; }
  double x(const WrongValue& w, int64_t part) const { return double(sums_.of(w.element)[part]); }

  /// Where the right scales lie.
  int64_t index_of_a(const WrongValue& w, int64_t part) const { return a_.index(w.row, block_of(part)); }
  int64_t index_of_b(const WrongValue& w, int64_t part) const { return b_.index(w.column / size_, block_of(part)); }
  ScaleOf right_a() const;
  ScaleOf right_b() const;

  /// Before it is multiplied by the factor.
  std::optional<Guessed> unscaled(const WrongValue& w, const ScaleOf& a, const ScaleOf& b) const;
  std::optional<Guessed> of(const WrongValue& w, const ScaleOf& a, const ScaleOf& b) const;
  std::optional<Guessed> right(const WrongValue& w) const { return of(w, right_a(), right_b()); }

 private:
  int64_t size_;
  double factor_;
  const ElementSums& sums_;
  int64_t parts_per_block_;
  ScaleValues a_, b_;
};

}  // namespace sm100::sim::provenance
