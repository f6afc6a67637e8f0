// SPDX-License-Identifier: Apache-2.0
/// Number formats of the tensor core and the `cvt` instructions between them.
/// Source: PTX 5.2.3 (alternate floating-point formats) and *cvt*; docs/instructions.md (tf32 truncation).
/// `decode_x` gives the exact value of a code; `cvt_*` rounds as the instruction of that name does.
#pragma once

#include <bit>

#include "kernels/isa/portability.h"

namespace sm100 {

enum class DataType : uint8_t { f16, bf16, tf32, f32, e4m3, e5m2, e2m3, e3m2, e2m1, s8, u8 };

/// Bits of one element in shared memory.  fp6 and fp4 count their 8-bit container, as kind::f8f6f4 holds them
/// (PTX 9.7.16); the dense nibbles of kind::mxf4 are the caller's business.
SM100_HD constexpr int element_bits(DataType type) {
  switch (type) {
    case DataType::tf32:
    case DataType::f32: return 32;
    case DataType::f16:
    case DataType::bf16: return 16;
    default: return 8;
  }
}

SM100_HD constexpr const char* name(DataType type) {
  switch (type) {
    case DataType::f16: return "f16";
    case DataType::bf16: return "bf16";
    case DataType::tf32: return "tf32";
    case DataType::f32: return "f32";
    case DataType::e4m3: return "e4m3";
    case DataType::e5m2: return "e5m2";
    case DataType::e2m3: return "e2m3";
    case DataType::e3m2: return "e3m2";
    case DataType::e2m1: return "e2m1";
    case DataType::s8: return "s8";
    case DataType::u8: return "u8";
  }
  return "?";
}

/// Exponent of a type's smallest normal number: subnormal numbers have it, too.
SM100_HD constexpr int min_exponent(DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::e5m2: return -14;
    case DataType::e4m3: return -6;
    case DataType::e3m2: return -2;
    case DataType::e2m3:
    case DataType::e2m1: return 0;
    default: return -126;
  }
}

namespace detail {

inline constexpr uint32_t kF32Sign = 0x80000000u;
inline constexpr uint32_t kF32Infinity = 0x7f800000u;
inline constexpr uint32_t kF32Nan = 0x7fffffffu;  ///< the canonical NaN of PTX

/// A float of at most 16 bits: sign, `exponent_bits`, `mantissa_bits`.  Inf and NaN are the caller's.
struct MiniFloat {
  int exponent_bits, mantissa_bits, bias;
  SM100_HD constexpr uint32_t magnitude_mask() const { return (1u << (exponent_bits + mantissa_bits)) - 1; }
  SM100_HD constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
};

inline constexpr MiniFloat kF16{5, 10, 15};
inline constexpr MiniFloat kE4m3{4, 3, 7};
inline constexpr MiniFloat kE5m2{5, 2, 15};
inline constexpr MiniFloat kE2m3{2, 3, 1};
inline constexpr MiniFloat kE3m2{3, 2, 3};
inline constexpr MiniFloat kE2m1{2, 1, 1};

/// 2^exponent, for exponents of normal f32 values.
SM100_HD constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

/// Value of a finite code.  Exact: integer significand times a power of two.
SM100_HD constexpr float decode_finite(MiniFloat f, uint32_t code) {
  const uint32_t magnitude = code & f.magnitude_mask();
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const uint32_t significand = exponent == 0 ? mantissa : mantissa | 1u << f.mantissa_bits;
  const float value =
      static_cast<float>(significand) * power_of_two((exponent == 0 ? 1 : exponent) - f.bias - f.mantissa_bits);
  return (code >> f.sign_shift()) & 1 ? -value : value;
}

/// value >> shift, rounded to nearest even.  shift in 1…31.
SM100_HD constexpr uint32_t shift_right_rn(uint32_t value, int shift) {
  const uint32_t quotient = value >> shift;
  const uint32_t rest = value & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  return quotient + (rest > half || (rest == half && (quotient & 1)) ? 1 : 0);
}

/// Magnitude code nearest to |x| (x finite, nearest even, subnormals included); the caller caps what is too
/// large. A carry out of the mantissa lands in the exponent, where it belongs.
SM100_HD constexpr uint32_t magnitude_rn(MiniFloat f, uint32_t f32_bits) {
  const int exponent = static_cast<int>((f32_bits >> 23) & 0xff) - 127;
  if (exponent == -127) return 0;  // an f32 subnormal is far below half of any format's smallest value
  const uint32_t significand = (f32_bits & 0x7fffff) | 0x800000;
  const int dropped = 23 - f.mantissa_bits;
  const int below_normal = 1 - f.bias - exponent;
  if (below_normal <= 0)
    return (static_cast<uint32_t>(-below_normal) << f.mantissa_bits) + shift_right_rn(significand, dropped);
  const int shift = dropped + below_normal;
  return shift > 24 ? 0 : shift_right_rn(significand, shift);
}

SM100_HD constexpr bool is_nan_bits(uint32_t f32_bits) { return (f32_bits & ~kF32Sign) > kF32Infinity; }

/// cvt.rn.satfinite to a format of at most 8 bits; max_code is also where Inf goes.
SM100_HD constexpr uint8_t cvt_rn_satfinite(MiniFloat f, uint32_t max_code, uint32_t nan_code, float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if (is_nan_bits(bits)) return static_cast<uint8_t>(nan_code);
  const uint32_t magnitude = magnitude_rn(f, bits);
  const uint32_t sign = bits >> 31 << f.sign_shift();
  return static_cast<uint8_t>(sign | (magnitude > max_code ? max_code : magnitude));
}

}  // namespace detail

// ---- exact values of codes ----

SM100_HD constexpr float decode_bf16(uint16_t bits) {  // the simulator's inner loop: one shift
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

SM100_HD constexpr float decode_f16(uint16_t bits) {
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude < 0x7c00u) return detail::decode_finite(detail::kF16, bits);
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  return std::bit_cast<float>(sign | detail::kF32Infinity | (magnitude & 0x3ffu) << 13);
}

/// The tensor core truncates the low 13 bits of the container (measured, docs/instructions.md; PTX leaves it open).
SM100_HD constexpr float decode_tf32(uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000u); }

SM100_HD constexpr float decode_e4m3(uint8_t bits) {
  return (bits & 0x7f) == 0x7f ? std::bit_cast<float>(detail::kF32Nan) : detail::decode_finite(detail::kE4m3, bits);
}

SM100_HD constexpr float decode_e5m2(uint8_t bits) {
  return decode_f16(static_cast<uint16_t>(bits << 8));  // e5m2 is the upper half of an f16, Inf and NaN included
}

SM100_HD constexpr float decode_e2m3(uint8_t bits) { return detail::decode_finite(detail::kE2m3, bits); }
SM100_HD constexpr float decode_e3m2(uint8_t bits) { return detail::decode_finite(detail::kE3m2, bits); }
SM100_HD constexpr float decode_e2m1(uint8_t bits) { return detail::decode_finite(detail::kE2m1, bits); }

/// A power of two; there is no zero, and 0x00 is 2^-127.
SM100_HD constexpr float decode_ue8m0(uint8_t bits) {
  if (bits == 0xff) return std::bit_cast<float>(detail::kF32Nan);
  return std::bit_cast<float>(bits == 0 ? 0x00400000u : static_cast<uint32_t>(bits) << 23);
}

/// An e4m3 without sign.  What a set bit 7 does is not documented; the published model of a B200 takes the
/// absolute value (MMA-Sim, arXiv 2511.10909).
SM100_HD constexpr float decode_ue4m3(uint8_t bits) { return decode_e4m3(bits & 0x7f); }

/// Value of one element in its container (element_bits(type) low bits of `bits`).
SM100_HD constexpr float decode(DataType type, uint32_t bits) {
  switch (type) {
    case DataType::f16: return decode_f16(static_cast<uint16_t>(bits));
    case DataType::bf16: return decode_bf16(static_cast<uint16_t>(bits));
    case DataType::tf32: return decode_tf32(bits);
    case DataType::f32: return std::bit_cast<float>(bits);
    case DataType::e4m3: return decode_e4m3(static_cast<uint8_t>(bits));
    case DataType::e5m2: return decode_e5m2(static_cast<uint8_t>(bits));
    case DataType::e2m3: return decode_e2m3(static_cast<uint8_t>(bits));
    case DataType::e3m2: return decode_e3m2(static_cast<uint8_t>(bits));
    case DataType::e2m1: return decode_e2m1(static_cast<uint8_t>(bits));
    case DataType::s8: return static_cast<float>(static_cast<int8_t>(bits & 0xff));
    case DataType::u8: return static_cast<float>(bits & 0xff);
  }
  return std::bit_cast<float>(detail::kF32Nan);
}

// ---- cvt: 16-bit results overflow to Inf, every NaN becomes 0x7fff ----

SM100_HD constexpr uint16_t cvt_rn_f16_f32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if (detail::is_nan_bits(bits)) return 0x7fff;
  const uint32_t magnitude = detail::magnitude_rn(detail::kF16, bits);
  return static_cast<uint16_t>(bits >> 31 << 15 | (magnitude > 0x7c00 ? 0x7c00 : magnitude));
}

SM100_HD constexpr uint16_t cvt_rn_bf16_f32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if (detail::is_nan_bits(bits)) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// The first source goes to the upper half.
SM100_HD constexpr uint32_t cvt_rn_bf16x2_f32(float a, float b) {
  return static_cast<uint32_t>(cvt_rn_bf16_f32(a)) << 16 | cvt_rn_bf16_f32(b);
}
SM100_HD constexpr uint32_t cvt_rn_f16x2_f32(float a, float b) {
  return static_cast<uint32_t>(cvt_rn_f16_f32(a)) << 16 | cvt_rn_f16_f32(b);
}

/// cvt.rna.tf32: nearest, ties away from zero.  The low 13 bits of the result are written as 0.
SM100_HD constexpr uint32_t cvt_rna_tf32_f32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return detail::is_nan_bits(bits) ? detail::kF32Nan : (bits + 0x1000) & 0xffffe000u;
}
SM100_HD constexpr uint32_t cvt_rn_tf32_f32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return detail::is_nan_bits(bits) ? detail::kF32Nan : (bits + 0xfff + ((bits >> 13) & 1)) & 0xffffe000u;
}

// ---- cvt to 8 bits and less: always .satfinite.  fp8 keeps NaN, fp6 and fp4 have none and give +max ----

SM100_HD constexpr uint8_t cvt_rn_satfinite_e4m3_f32(float x) {
  return detail::cvt_rn_satfinite(detail::kE4m3, 0x7e, 0x7f, x);
}
SM100_HD constexpr uint8_t cvt_rn_satfinite_e5m2_f32(float x) {
  return detail::cvt_rn_satfinite(detail::kE5m2, 0x7b, 0x7f, x);
}
SM100_HD constexpr uint8_t cvt_rn_satfinite_e2m3_f32(float x) {
  return detail::cvt_rn_satfinite(detail::kE2m3, 0x1f, 0x1f, x);
}
SM100_HD constexpr uint8_t cvt_rn_satfinite_e3m2_f32(float x) {
  return detail::cvt_rn_satfinite(detail::kE3m2, 0x1f, 0x1f, x);
}
SM100_HD constexpr uint8_t cvt_rn_satfinite_e2m1_f32(float x) {
  return detail::cvt_rn_satfinite(detail::kE2m1, 0x7, 0x7, x);
}

/// Scale factor 2^floor(log2 |x|); the sign is ignored, Inf saturates, zero and everything below 2^-127 give
/// 2^-127.
SM100_HD constexpr uint8_t cvt_rz_satfinite_ue8m0_f32(float x) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(x) & ~detail::kF32Sign;
  if (magnitude > detail::kF32Infinity) return 0xff;
  return static_cast<uint8_t>(magnitude == detail::kF32Infinity ? 0xfe : magnitude >> 23);
}

/// Scale factor 2^ceil(log2 |x|).  2^-127 itself is an f32 subnormal (0x00400000), hence the special case.
SM100_HD constexpr uint8_t cvt_rp_satfinite_ue8m0_f32(float x) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(x) & ~detail::kF32Sign;
  if (magnitude > detail::kF32Infinity) return 0xff;
  if (magnitude <= 0x00400000u) return 0;
  const uint32_t rounded_up = (magnitude >> 23) + ((magnitude & 0x7fffff) != 0 ? 1 : 0);
  return static_cast<uint8_t>(rounded_up > 0xfe ? 0xfe : rounded_up);
}

// ---- max.NaN, min.NaN: a NaN among the operands gives the canonical one; +0 is larger than -0 ----

SM100_HD constexpr float max_nan_f32(float a, float b) {
  const uint32_t x = std::bit_cast<uint32_t>(a), y = std::bit_cast<uint32_t>(b);
  if (detail::is_nan_bits(x) || detail::is_nan_bits(y)) return std::bit_cast<float>(detail::kF32Nan);
  if (a == b) return std::bit_cast<float>(x & y);  // they differ in the sign of zero alone
  return a > b ? a : b;
}
SM100_HD constexpr float min_nan_f32(float a, float b) {
  const uint32_t x = std::bit_cast<uint32_t>(a), y = std::bit_cast<uint32_t>(b);
  if (detail::is_nan_bits(x) || detail::is_nan_bits(y)) return std::bit_cast<float>(detail::kF32Nan);
  if (a == b) return std::bit_cast<float>(x | y);
  return a < b ? a : b;
}

}  // namespace sm100
