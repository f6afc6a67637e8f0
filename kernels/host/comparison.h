/// Compares a computed matrix with its reference, element by element.
///
/// Two bounds, both relative to the limit of the output type.  The Frobenius norm of the whole difference finds what is
/// slightly wrong everywhere; the bound on each element finds the one that is wrong: it may be off by `limit` of itself
/// and of the matrix's root mean square together.
#pragma once

#include "kernels/host/problem.h"

namespace sm100::host {

class Comparison {
 public:
  /// @param limit  largest relative Frobenius error that passes
  explicit Comparison(double limit) : limit_(limit) {}

  void add(double value, double expected, int row, int column);

  /// @param rows  how many rows were compared
  Check result(int rows) const;

 private:
  double limit_;
  double difference_ = 0, norm_ = 0;  ///< sums of squares
  int64_t count_ = 0;
  WrongElement worst_;
  double worst_excess_ = -1;  ///< |value - expected| - limit * |expected|
};

}  // namespace sm100::host
