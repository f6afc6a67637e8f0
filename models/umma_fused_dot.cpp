// SPDX-License-Identifier: Apache-2.0
#include "models/umma_fused_dot.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/isa/number_formats.h"

namespace sm100::models {

namespace {

constexpr uint32_t kNan = 0x7fffffff, kInfinity = 0x7f800000;
constexpr int kFractionBits = 25;         ///< kept below the largest exponent
constexpr int kOperandFractionBits = 10;  ///< enough for f16, bf16, tf32 and the 8-bit types
constexpr int kMinExponentF32 = -126, kMinExponentF16 = -14;

/// x = significand * 2^(exponent - fraction_bits), the exponent not below `min_exponent`.
struct Scaled {
  int exponent;
  int64_t significand;
};
Scaled scale(float x, int fraction_bits, int min_exponent) {
  int e;
  std::frexp(x, &e);  // |x| in [0.5, 1) * 2^e
  const int exponent = std::max(e - 1, min_exponent);
  return {exponent, int64_t(std::ldexp(double(x), fraction_bits - exponent))};
}

int64_t shift_toward_zero(int64_t value, int left) {
  if (left >= 0) return value << left;
  const int right = std::min(-left, 63);
  return value >= 0 ? value >> right : -(-value >> right);
}

/// sum * 2^(exponent - kFractionBits), truncated to f32; with `sticky` what is dropped sets the lowest bit,
/// so that a later rounding to a narrower type is the rounding of the exact sum.
uint32_t truncate_to_f32(int64_t sum, int exponent, bool sticky) {
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? 0x80000000u : 0;
  const uint64_t magnitude = uint64_t(sum < 0 ? -sum : sum);
  const int top = 63 - __builtin_clzll(magnitude);
  int e = top + exponent - kFractionBits;  // of the leading bit
  if (e > 127) return sign | kInfinity;
  int drop = top - 23;
  if (e < -126) {  // subnormal
    drop += -126 - e;
    e = -127;
  }
  uint64_t significand = drop >= 0 ? (drop > 63 ? 0 : magnitude >> drop) : magnitude << -drop;
  if (significand == 0) return 0;  // +0 also where a negative sum vanishes
  if (sticky && drop > 0 && (drop > 63 || (magnitude & ((uint64_t{1} << drop) - 1)) != 0)) significand |= 1;
  return sign | (e < -126 ? uint32_t(significand) : uint32_t(e + 127) << 23 | (uint32_t(significand) & 0x7fffff));
}

}  // namespace

uint32_t fused_dot_b200(const float* a, const float* b, int k, float c, bool accumulate, int a_min_exponent,
                        int b_min_exponent, bool f16_d) {
  // Anything not finite decides the result alone.
  float special = accumulate && !std::isfinite(c) ? c : 0.f;
  for (int i = 0; i < k; ++i)
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) special += a[i] * b[i];
  if (std::isnan(special)) return kNan;
  if (std::isinf(special)) return special < 0 ? kInfinity | 0x80000000u : kInfinity;

  const int c_min_exponent = f16_d ? kMinExponentF16 : kMinExponentF32;
  int largest = kMinExponentF32;  // a D of zero has it
  for (int i = 0; i < k; ++i)
    if (a[i] != 0 && b[i] != 0)
      largest = std::max(largest, scale(a[i], kOperandFractionBits, a_min_exponent).exponent +
                                      scale(b[i], kOperandFractionBits, b_min_exponent).exponent);
  const bool add_c = accumulate && c != 0;
  if (add_c) largest = std::max(largest, scale(c, 23, c_min_exponent).exponent);

  int64_t sum = 0;
  for (int i = 0; i < k; ++i) {
    if (a[i] == 0 || b[i] == 0) continue;
    const Scaled x = scale(a[i], kOperandFractionBits, a_min_exponent),
                 y = scale(b[i], kOperandFractionBits, b_min_exponent);
    sum += shift_toward_zero(x.significand * y.significand,
                             kFractionBits - 2 * kOperandFractionBits - (largest - x.exponent - y.exponent));
  }
  if (add_c) {
    const Scaled z = scale(c, 23, c_min_exponent);
    sum += shift_toward_zero(z.significand, kFractionBits - 23 - (largest - z.exponent));
  }
  const uint32_t bits = truncate_to_f32(sum, largest, f16_d);
  const bool vanishes = f16_d && (cvt_rn_f16_f32(std::bit_cast<float>(bits)) & 0x7fff) == 0;
  return vanishes ? 0 : bits;
}

}  // namespace sm100::models
