// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace sm100::host {

namespace {

double largest_finite(DataType type) {
  switch (type) {
    case DataType::e4m3: return decode_e4m3(0x7e);
    case DataType::e5m2: return decode_e5m2(0x7b);
    case DataType::f16: return decode_f16(0x7bff);
    case DataType::bf16: return decode_bf16(0x7f7f);
    default: return std::numeric_limits<float>::max();
  }
}

bool saturates(DataType type) { return type == DataType::e4m3 || type == DataType::e5m2; }

}  // namespace

std::optional<Unwritten> unwritten_elements(const uint8_t* matrix, int rows, int columns, int element_bytes) {
  Unwritten all{.of = int64_t{rows} * columns, .first_row = rows, .first_column = columns};
  const std::vector<uint8_t> untouched(size_t(element_bytes), 0xff);
  for (int r = 0; r < rows; ++r) {
    const uint8_t* row = matrix + size_t(r) * size_t(columns) * size_t(element_bytes);
    const uint8_t* const end = row + size_t(columns) * size_t(element_bytes);
    // Nearly every row has none, and a byte search is fast.
    for (const uint8_t* at = row; (at = static_cast<const uint8_t*>(std::memchr(at, 0xff, size_t(end - at))));) {
      const int c = int((at - row) / element_bytes);
      const uint8_t* const element = row + c * element_bytes;
      if (std::memcmp(element, untouched.data(), size_t(element_bytes)) == 0) {
        ++all.elements;
        all.first_row = std::min(all.first_row, r), all.last_row = r;
        all.first_column = std::min(all.first_column, c), all.last_column = std::max(all.last_column, c);
      }
      at = element + element_bytes;
    }
  }
  if (all.elements == 0) return std::nullopt;
  return all;
}

double converted_range(DataType type, double x) {
  const double largest = largest_finite(type);
  if (!(std::abs(x) > largest)) return x;
  return std::copysign(saturates(type) ? largest : std::numeric_limits<double>::infinity(), x);
}

void Comparison::add_converted(DataType type, double value, double expected, int row, int column) {
  const double largest = largest_finite(type), slack = limit_ * largest;
  // Rounding decides whether a number so close to the edge becomes infinite.
  if (!saturates(type) && std::abs(std::abs(expected) - largest) <= slack) {
    if (value == std::copysign(std::numeric_limits<double>::infinity(), expected)) expected = value;
  } else {
    expected = converted_range(type, expected);
  }
  add(value, expected, row, column);
}

void Comparison::add(double value, double expected, int row, int column) {
  if (value == expected && std::isinf(value)) {  // right, and no difference of numbers
    ++count_;
    return;
  }
  const double d = value - expected;
  difference_ += d * d;
  norm_ += expected * expected;
  ++count_;
  const double excess = std::isfinite(d) ? std::abs(d) - element_limit_ * std::abs(expected)
                                         : std::numeric_limits<double>::infinity();
  if (excess > worst_excess_) worst_excess_ = excess, worst_ = {row, column, value, expected};
}

Check Comparison::result(int rows) const {
  const double error = norm_ > 0 ? std::sqrt(difference_ / norm_) : std::sqrt(difference_);
  const double root_mean_square = count_ > 0 ? std::sqrt(norm_ / double(count_)) : 0;
  Check check{.ok = error <= limit_,  // false for NaN
              .relative_error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error,
              .limit = limit_,
              .rows = rows};
  if (worst_excess_ > element_limit_ * root_mean_square) {
    check.ok = false;
    check.wrong_element = worst_;
  }
  return check;
}

}  // namespace sm100::host
