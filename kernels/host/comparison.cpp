#include "kernels/host/comparison.h"

#include <cmath>
#include <limits>

namespace sm100::host {

void Comparison::add(double value, double expected, int row, int column) {
  const double d = value - expected;
  difference_ += d * d;
  norm_ += expected * expected;
  ++count_;
  const double excess =
      std::isnan(d) ? std::numeric_limits<double>::infinity() : std::abs(d) - limit_ * std::abs(expected);
  if (excess > worst_excess_) worst_excess_ = excess, worst_ = {row, column, value, expected};
}

Check Comparison::result(int rows) const {
  const double error = norm_ > 0 ? std::sqrt(difference_ / norm_) : std::sqrt(difference_);
  const double root_mean_square = count_ > 0 ? std::sqrt(norm_ / double(count_)) : 0;
  Check check{.ok = error <= limit_,  // false for NaN
              .relative_error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error,
              .limit = limit_,
              .rows = rows};
  if (worst_excess_ > limit_ * root_mean_square) {
    check.ok = false;
    check.wrong_element = worst_;
  }
  return check;
}

}  // namespace sm100::host
