// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/guesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/host/comparison.h"
#include "kernels/host/product.h"

namespace sm100::sim::provenance {

std::optional<uint32_t> converted(DataType type, uint32_t cell) {
  const float x = as_float(cell);
  switch (type) {
    case DataType::f32: return cell;
    case DataType::bf16: return cvt_rn_bf16_f32(x);
    case DataType::f16: return cvt_rn_f16_f32(x);
    case DataType::e4m3: return cvt_rn_satfinite_e4m3_f32(x);
    case DataType::e5m2: return cvt_rn_satfinite_e5m2_f32(x);
    default: return std::nullopt;
  }
}
namespace {

/// Half of the smallest number of a type that is no zero.
double least_rounding(DataType type) {
  switch (type) {
    case DataType::e4m3: return std::ldexp(1, -10);
    case DataType::e5m2: return std::ldexp(1, -17);
    case DataType::f16: return std::ldexp(1, -25);
    case DataType::bf16: return std::ldexp(1, -134);
    default: return 0;
  }
}

}  // namespace

WrongElements::WrongElements(DataType output, std::vector<WrongValue> wrong)
    : output_(output), wrong_(std::move(wrong)) {
  for (const WrongValue& w : wrong_) rows_.insert(w.row), columns_.insert(w.column);
  std::shuffle(wrong_.begin(), wrong_.end(), std::mt19937(1));
}

bool WrongElements::is_rounded(DataType output, double stored, const Guessed& value, double times) {
  constexpr double kInSums = 4e-6;  // of f32, and of approximate functions
  const double wanted = host::converted_range(output, value.value);
  if (stored == wanted) return true;
  const double most =
      1.01 * host::unit_roundoff(output) * std::abs(wanted) + least_rounding(output) + kInSums * value.size;
  return std::abs(stored - wanted) <= times * most;  // false for NaN
}

int64_t WrongElements::explained(const Guess& guess) const {
  constexpr int64_t kAtFirst = 4096;
  int64_t fits = 0, beyond = 0, misses = 0, unknown = 0;
  const auto enough = [&](int64_t looked_at) {
    return fits - beyond >= kFewest && misses * 50 <= fits + misses && unknown * 4 <= looked_at;
  };
  for (int64_t i = 0; i < count(); ++i) {
    if (i == kAtFirst && !enough(i)) return 0;
    const WrongValue& w = wrong_[size_t(i)];
    const std::optional<Guessed> value = guess.value(w);
    if (value && is_rounded(output_, w.stored, *value, guess.times))
      ++fits, beyond += value->beyond;
    else if (!value || value->beyond)
      ++unknown;
    else if (++misses > 4 && misses * 8 > fits)
      return 0;
    if (unknown > 64 && unknown * 2 > i) return 0;
  }
  return enough(count()) ? fits : 0;
}

double decoded_at(DataType type, const uint8_t* bytes, int64_t index) {
  if (type == DataType::e2m1) return double(decode(type, bytes[index / 2] >> 4 * (index % 2) & 0xf));
  const size_t size = size_t(element_bits(type)) / 8;
  uint32_t word = 0;
  std::memcpy(&word, bytes + size_t(index) * size, size);
  return double(decode(type, word));
}

double middle_of(std::vector<double>& values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string numbers_text(const std::set<int64_t>& numbers, const std::string& unit) {
  if (numbers.empty()) return "no " + unit;
  const int64_t first = *numbers.begin(), last = *numbers.rbegin(), count = int64_t(numbers.size());
  const auto range = [](int64_t from, int64_t to) {
    return from == to ? fmt::format("{}", from) : fmt::format("{}-{}", from, to);
  };
  if (count == 1) return fmt::format("{} {}", unit, first);
  if (count * 10 >= (last - first + 1) * 9) return fmt::format("{}s {}", unit, range(first, last));
  for (const int64_t period : {2, 4, 8, 16, 32, 64, 128, 256}) {
    int64_t least = period, most = -1;
    std::set<int64_t> in_period;
    for (const int64_t n : numbers)
      least = std::min(least, n % period), most = std::max(most, n % period), in_period.insert(n % period);
    if (most - least + 1 == period || int64_t(in_period.size()) != most - least + 1 || last - first < period)
      continue;
    if (period == 2) return fmt::format("the {} {}s", least == 1 ? "odd" : "even", unit);
    return fmt::format("{}{} {} of each {}", unit, least == most ? "" : "s", range(least, most), period);
  }
  return fmt::format("{}s {}", unit, range(first, last));
}

}  // namespace sm100::sim::provenance
