// SPDX-License-Identifier: Apache-2.0
/// What else an epilogue may have made of sums and their scales of blocks: other scales, or another sum.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/provenance/scaled_sums.h"

namespace sm100::sim::provenance {

/// The scales of another product in the same tensor.
struct OtherScales {
  std::string of;        ///< "group 3"
  int64_t a = 0, b = 0;  ///< how far they lie from this product's, in scales
  double factor = 1;
};

class BlockScaleGuesses {
 public:
  /// @param factor_name  "the factor of expert 3"
  BlockScaleGuesses(const ScaledSums& sums, std::string factor_name, std::vector<OtherScales> others)
      : sums_(sums), factor_name_(std::move(factor_name)), others_(std::move(others)) {}

  /// Calls `told(guess)` until one returns true.
  bool any(const WrongElements& wrong, const Told& told) const;

 private:
  /// Whose scales a guess is about.
  enum class Whose : uint8_t { a, b, both };
  static const char* name(Whose whose);

  // block_scale_guesses.cpp: other places
  bool tell(const Told& told, std::string what, ScaleOf a, ScaleOf b, uint64_t reads) const;
  /// @param index  of an element and a part: where the scale lies that was taken; nothing: nobody knows
  template <class F>
  bool tell_a(const Told& told, std::string what, F index) const;
  template <class F>
  bool tell_b(const Told& told, std::string what, F index) const;
  bool other_products(const Told& told) const;
  bool other_rows(const WrongElements& wrong, const Told& told) const;
  bool other_columns(const Told& told) const;
  bool other_pitches(const Told& told) const;
  bool other_blocks_of_k(const Told& told) const;
  /// Scales of other blocks of K.
  /// @param block  of a part
  template <class F>
  bool of_blocks(const Told& told, const std::string& what, F block) const;

  // block_scale_forms.cpp: other sums
  /// @param made  of the product, its scale of A and of B: what is added up
  template <class F>
  bool sum_of(const Told& told, std::string what, F made, uint64_t reads = 0) const;
  bool other_sums(const Told& told) const;
  bool other_order(const Told& told) const;
  bool other_factor(const WrongElements& wrong, const Told& told) const;
  bool parts_of_k(const Told& told) const;
  bool other_types(const Told& told) const;

  const ScaledSums& sums_;
  const std::string factor_name_;
  const std::vector<OtherScales> others_;
};

/// Scales that fit what is stored, and lie elsewhere or nowhere: the last resort.  B's, by block of columns, then
/// A's, by row.
/// @param others  products with scales in the same tensors
bool tell_fitted_scales(const ScaledSums& sums, const WrongElements& wrong, const std::vector<OtherScales>& others,
                        const Told& told);

}  // namespace sm100::sim::provenance
