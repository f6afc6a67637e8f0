// SPDX-License-Identifier: Apache-2.0
#include "models/numerics/fused_dot.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/isa/number_formats.h"

namespace sm100::models {

namespace {

constexpr uint32_t kNan = 0x7fffffff, kInfinity = 0x7f800000;
constexpr int kFractionBits = 25;         ///< kept below the largest exponent
constexpr int kFractionBitsMxf4 = 35;     ///< the same in kinds mxf4 and mxf4nvf4
constexpr int kOperandFractionBits = 10;  ///< enough for f16, bf16, tf32 and the 8-bit types
constexpr int kMinExponentF32 = -126, kMinExponentF16 = -14, kMinExponentUe8m0 = -127, kMinExponentUe4m3 = -6;
constexpr int kMaxK = 64;       ///< of an MMA
constexpr int kMxf4Groups = 4;  ///< of 16 neighbours along k, whose products are added exactly

/// x = significand * 2^(exponent - fraction_bits), the exponent not below `min_exponent`.
struct Scaled {
  int exponent;
  int64_t significand;
};
Scaled scale(float x, int fraction_bits, int min_exponent) {
  constexpr int kBias = 127, kMantissaBits = 23;
  const uint32_t bits = std::bit_cast<uint32_t>(x), mantissa = bits & 0x7fffff;
  const int field = int(bits >> kMantissaBits & 0xff);
  if (field == 0 && mantissa == 0) return {min_exponent, 0};
  // x = full * 2^(unit - 23); of a subnormal the leading bit is below 2^unit
  const int64_t full = field == 0 ? mantissa : mantissa | 0x800000;
  const int unit = field == 0 ? 1 - kBias : field - kBias;
  const int leading = field == 0 ? unit - kMantissaBits + 31 - std::countl_zero(mantissa) : unit;
  const int exponent = std::max(leading, min_exponent), right = kMantissaBits - fraction_bits + exponent - unit;
  const int64_t magnitude = right <= 0 ? full << -right : right > 63 ? 0 : full >> right;
  return {exponent, bits >> 31 ? -magnitude : magnitude};
}

int64_t shift_toward_zero(int64_t value, int left) {
  if (left >= 0) return value << left;
  const int right = std::min(-left, 63);
  return value >= 0 ? value >> right : -(-value >> right);
}

/// sum * 2^(exponent - fraction_bits), truncated to f32; with `sticky` what is dropped sets the lowest bit,
/// so that a later rounding to a narrower type is the rounding of the exact sum.
uint32_t truncate_to_f32(int64_t sum, int exponent, int fraction_bits, bool sticky) {
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? 0x80000000u : 0;
  const uint64_t magnitude = uint64_t(sum < 0 ? -sum : sum);
  const int top = 63 - __builtin_clzll(magnitude);
  int e = top + exponent - fraction_bits;  // of the leading bit
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

/// A result that something not finite decides alone.
uint32_t special_result(float special) {
  if (std::isnan(special)) return kNan;
  return special < 0 ? kInfinity | 0x80000000u : kInfinity;
}

struct Rules {
  bool f16_d = false;
  int scale_exponent = 0;                   ///< added to the exponents of all products
  int fraction_bits = kFractionBits;        ///< kept below the largest exponent
  int smallest_exponent = kMinExponentF32;  ///< the largest is not below it: a D of zero has it
};

uint32_t fused_dot(const float* a, const float* b, int k, float c, bool accumulate, int a_min_exponent,
                   int b_min_exponent, const Rules& rules) {
  // Anything not finite decides the result alone.
  float special = accumulate && !std::isfinite(c) ? c : 0.f;
  for (int i = 0; i < k; ++i)
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) special += a[i] * b[i];
  if (!std::isfinite(special)) return special_result(special);

  const int c_min_exponent = rules.f16_d ? kMinExponentF16 : kMinExponentF32;
  Scaled terms[kMaxK];
  int count = 0, largest = rules.smallest_exponent;
  for (int i = 0; i < k; ++i) {
    if (a[i] == 0 || b[i] == 0) continue;
    const Scaled x = scale(a[i], kOperandFractionBits, a_min_exponent),
                 y = scale(b[i], kOperandFractionBits, b_min_exponent);
    terms[count] = {x.exponent + y.exponent + rules.scale_exponent, x.significand * y.significand};
    largest = std::max(largest, terms[count++].exponent);
  }
  const bool add_c = accumulate && c != 0;
  const Scaled z = add_c ? scale(c, 23, c_min_exponent) : Scaled{};
  if (add_c) largest = std::max(largest, z.exponent);

  const int fraction = rules.fraction_bits;
  int64_t sum = add_c ? shift_toward_zero(z.significand, fraction - 23 - (largest - z.exponent)) : 0;
  for (int i = 0; i < count; ++i)
    sum += shift_toward_zero(terms[i].significand,
                             fraction - 2 * kOperandFractionBits - (largest - terms[i].exponent));
  const uint32_t bits = truncate_to_f32(sum, largest, fraction, rules.f16_d);
  const bool vanishes = rules.f16_d && (cvt_rn_f16_f32(std::bit_cast<float>(bits)) & 0x7fff) == 0;
  return vanishes ? 0 : bits;
}

}  // namespace

uint32_t fused_dot_b200(const float* a, const float* b, int k, float c, bool accumulate, int a_min_exponent,
                        int b_min_exponent, bool f16_d) {
  return fused_dot(a, b, k, c, accumulate, a_min_exponent, b_min_exponent, {.f16_d = f16_d});
}

uint32_t fused_dot_b200_mxf8f6f4(const float* a, const float* b, int k, float c, bool accumulate,
                                 int a_min_exponent, int b_min_exponent, float sfa, float sfb) {
  if (std::isnan(sfa) || std::isnan(sfb)) return kNan;
  const int exponent = scale(sfa, 0, kMinExponentUe8m0).exponent + scale(sfb, 0, kMinExponentUe8m0).exponent;
  return fused_dot(a, b, k, c, accumulate, a_min_exponent, b_min_exponent, {.scale_exponent = exponent});
}

uint32_t fused_dot_wgmma(const float* a, const float* b, int k, float c, bool accumulate, int a_min_exponent,
                         int b_min_exponent, WgmmaSum sum) {
  constexpr int kFractionBitsFp8 = 13, kDroppedBits = 23 - kFractionBitsFp8, kNone = -1000;
  const bool fp8 = sum == WgmmaSum::fp8_f32 || sum == WgmmaSum::fp8_f16;
  const bool f16_d = sum == WgmmaSum::f16 || sum == WgmmaSum::fp8_f16;
  const uint32_t bits = fused_dot(
      a, b, k, c, accumulate, a_min_exponent, b_min_exponent,
      {.f16_d = f16_d, .fraction_bits = fp8 ? kFractionBitsFp8 : kFractionBits, .smallest_exponent = kNone});
  const bool finite = (bits & kInfinity) != kInfinity;
  if (sum != WgmmaSum::fp8_f32 || !finite) return bits;
  const uint32_t kept = bits >> kDroppedBits << kDroppedBits;
  return (kept & ~0x80000000u) == 0 ? 0 : kept;
}

uint32_t fused_dot_b200_mxf4(const float* a, const float* b, int k, float c, bool accumulate, const float* sfa,
                             const float* sfb, int block, bool ue8m0) {
  constexpr int kScaleBits = 3, kProductBits = 2;  // products are multiples of 1/4
  const int of_group = k / kMxf4Groups;            // of a sparse A twice as many, half of them zeros (assumed)
  const int min_exponent = ue8m0 ? kMinExponentUe8m0 : kMinExponentUe4m3;
  float special = accumulate && !std::isfinite(c) ? c : 0.f;
  for (int i = 0; i < k / block; ++i)
    if (std::isnan(sfa[i]) || std::isnan(sfb[i])) special = std::bit_cast<float>(kNan);
  if (!std::isfinite(special)) return special_result(special);

  Scaled terms[kMxf4Groups];
  int count = 0, largest = kMinExponentF32;  // a D of zero has it
  for (int group = 0; group < k; group += of_group) {
    float products = 0;  // exact
    for (int i = group; i < group + of_group; ++i) products += a[i] * b[i];
    const Scaled x = scale(sfa[group / block], kScaleBits, min_exponent),
                 y = scale(sfb[group / block], kScaleBits, min_exponent);
    const Scaled term = {x.exponent + y.exponent,
                         int64_t(products * float(1 << kProductBits)) * x.significand * y.significand};
    if (term.significand == 0) continue;
    largest = std::max(largest, term.exponent);
    terms[count++] = term;
  }
  const bool add_c = accumulate && c != 0;
  const Scaled z = add_c ? scale(c, 23, kMinExponentF32) : Scaled{};
  if (add_c) largest = std::max(largest, z.exponent);

  int64_t sum = add_c ? shift_toward_zero(z.significand, kFractionBitsMxf4 - 23 - (largest - z.exponent)) : 0;
  for (int i = 0; i < count; ++i)
    sum += shift_toward_zero(terms[i].significand,
                             kFractionBitsMxf4 - kProductBits - 2 * kScaleBits - (largest - terms[i].exponent));
  return truncate_to_f32(sum, largest, kFractionBitsMxf4, false);
}

}  // namespace sm100::models
