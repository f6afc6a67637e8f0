// SPDX-License-Identifier: Apache-2.0
/// Compares a computed matrix with its reference, element by element.
///
/// Two bounds, both relative to the limit of the output type.  The Frobenius norm of the whole difference finds
/// what is slightly wrong everywhere; the bound on each element finds the one that is wrong: it may be off by
/// `limit` of itself and of the matrix's root mean square together, and by more where the tensor core's cut-off
/// sums may be unlucky in one element (`element_limit`).
#pragma once

#include "kernels/host/kernel_run.h"
#include "kernels/isa/number_formats.h"

namespace sm100::host {

/// The elements of a row-major matrix whose bytes are all 0xff, which no result has: a NaN that cvt does not make.
std::optional<Unwritten> unwritten_elements(const uint8_t* matrix, int rows, int columns, int element_bytes);

/// What a cvt of the epilogues makes of a number that is too large for the type; other numbers are not rounded.
double converted_range(DataType type, double x);

class Comparison {
 public:
  /// @param limit  largest relative Frobenius error that passes
  explicit Comparison(double limit) : Comparison(limit, limit) {}
  /// @param element_limit  as much of itself and of the root mean square may an element be off by
  Comparison(double limit, double element_limit) : limit_(limit), element_limit_(element_limit) {}

  void add(double value, double expected, int row, int column);

  /// An element that was converted to `type` as the kernels' epilogues do it (PTX cvt): e4m3 and e5m2 saturate
  /// (cvt.rn.satfinite), wider types overflow to infinity.  Within the limit of the largest value either is right.
  void add_converted(DataType type, double value, double expected, int row, int column);

  /// @param rows  how many rows were compared
  Check result(int rows) const;

 private:
  double limit_, element_limit_;
  double difference_ = 0, norm_ = 0;  ///< sums of squares
  int64_t count_ = 0;
  WrongElement worst_;
  double worst_excess_ = -1;  ///< |value - expected| - element_limit * |expected|
};

}  // namespace sm100::host
