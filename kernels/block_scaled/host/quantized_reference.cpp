// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_scaled/host/quantized_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sm100::host {
namespace {

constexpr uint8_t kNanUe8m0 = 0xff, kLargestUe8m0 = 0xfe, kNanE4m3 = 0x7f, kLargestE4m3 = 0x7e, kLargestE2m1 = 0x7;

/// The value of sign-less code `code` of a float with `mantissa` bits: PTX 5.2.3.
double magnitude(int code, int mantissa, int bias) {
  const int exponent = code >> mantissa, fraction = code & ((1 << mantissa) - 1);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa)
                       : std::ldexp((1 << mantissa) + fraction, exponent - bias - mantissa);
}
double magnitude_e4m3(int code) { return magnitude(code, 3, 7); }
double magnitude_e2m1(int code) { return magnitude(code, 1, 1); }

/// Code of the value nearest to `x`, which is not negative, among those of 0 ... largest, of two the even code.
template <class F>
uint8_t nearest(double x, int largest, F value) {
  if (x > value(largest)) return uint8_t(largest);  // far away all distances would be the same number
  int best = 0;
  for (int code = 1; code <= largest; ++code) {
    const double distance = std::abs(x - value(code)), least = std::abs(x - value(best));
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return uint8_t(best);
}

}  // namespace

uint8_t nearest_scale(ScaleType type, float value) {
  if (type == ScaleType::ue4m3) {
    if (std::isnan(value)) return kNanE4m3;
    return std::isinf(value) ? kLargestE4m3 : nearest(double(value), kLargestE4m3, magnitude_e4m3);
  }
  if (std::isnan(value)) return kNanUe8m0;
  int code = 0;
  while (code < kLargestUe8m0 && std::ldexp(1.0, code - 127) < double(value)) ++code;
  return uint8_t(code);
}

double value_of_scale(ScaleType type, uint8_t code) {
  if (type == ScaleType::ue4m3)
    return (code & 0x7f) == kNanE4m3 ? std::numeric_limits<double>::quiet_NaN() : magnitude_e4m3(code & 0x7f);
  return code == kNanUe8m0 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}

uint8_t nearest_element(DataType type, float value) {
  const bool fp4 = type == DataType::e2m1;
  const int largest = fp4 ? kLargestE2m1 : kLargestE4m3;
  if (std::isnan(value)) return fp4 ? kLargestE2m1 : kNanE4m3;
  const double x = std::abs(double(value));
  const uint8_t code = std::isinf(x) ? uint8_t(largest)
                       : fp4         ? nearest(x, largest, magnitude_e2m1)
                                     : nearest(x, largest, magnitude_e4m3);
  return uint8_t(std::signbit(value) ? code | (fp4 ? 0x8 : 0x80) : code);
}

double value_of_element(DataType type, uint8_t code) {
  if (type == DataType::e2m1) return (code & 0x8 ? -1 : 1) * magnitude_e2m1(code & 0x7);
  if ((code & 0x7f) == kNanE4m3) return std::numeric_limits<double>::quiet_NaN();
  return (code & 0x80 ? -1 : 1) * magnitude_e4m3(code & 0x7f);
}

QuantizedBlock quantized_block(DataType type, ScaleType scale_type, float norm, const float* results, int count,
                               int stride) {
  float amax = 0;
  for (int i = 0; i < count; ++i) {
    const float x = std::abs(results[int64_t{i} * stride]);
    amax = std::isnan(amax) || std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : std::max(amax, x);
  }
  const float largest = type == DataType::e2m1 ? 6.f : 448.f;
  QuantizedBlock block;
  block.scale = nearest_scale(scale_type, amax * (norm / largest));
  float factor = norm * (1.f / float(value_of_scale(scale_type, block.scale)));
  if (factor > std::numeric_limits<float>::max()) factor = std::numeric_limits<float>::max();
  for (int i = 0; i < count; ++i) block.elements[i] = nearest_element(type, results[int64_t{i} * stride] * factor);
  return block;
}

}  // namespace sm100::host
