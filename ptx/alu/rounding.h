// SPDX-License-Identifier: Apache-2.0
/// Rounding of exact results to a float type, in every mode.
///
/// Sums and products of numbers of up to 24 bits are computed in f64.  Where f64 cannot hold a sum, it is rounded
/// to odd: the last bit says that something was lost, and rounding it once more is as good as rounding the exact
/// sum (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", 2008), because 53 bits are more than 24
/// + 2.
#pragma once

#include <algorithm>
#include <cmath>

#include "ptx/alu/half.h"

namespace sm100::ptx {

enum class Rounding : uint8_t { nearest, zero, down, up, away };  ///< away: nearest, ties away from zero

/// `x`, rounded to a format of that many exponent and fraction bits: the bits, with sign.  Not for NaN.
inline uint64_t round_bits(double x, int exponent_bits, int fraction_bits, Rounding mode) {
  const auto all = std::bit_cast<uint64_t>(x);
  const bool sign = all >> 63;
  const int biased = static_cast<int>(all >> 52 & 0x7ff);
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  const uint64_t sign_bit = static_cast<uint64_t>(sign) << (exponent_bits + fraction_bits);
  if (biased == 0x7ff) return sign_bit | infinity;
  const uint64_t significand = (all & ((uint64_t{1} << 52) - 1)) | static_cast<uint64_t>(biased != 0) << 52;
  const int exponent = (biased == 0 ? 1 : biased) - 1023;
  const int least = 2 - (1 << (exponent_bits - 1));  // of normal numbers
  const int below = exponent < least ? least - exponent : 0;
  const int shift = std::min(52 - fraction_bits + below, 54);
  if (shift == 0) return sign_bit | (all & ~(uint64_t{1} << 63));
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1);
  uint64_t kept = significand >> shift;
  switch (mode) {
    case Rounding::nearest: kept += rest > half || (rest == half && (kept & 1)); break;
    case Rounding::away: kept += rest >= half; break;
    case Rounding::zero: break;
    case Rounding::down: kept += sign && rest != 0; break;
    case Rounding::up: kept += !sign && rest != 0; break;
  }
  const uint64_t magnitude = (static_cast<uint64_t>(exponent + below - least) << fraction_bits) + kept;
  if (magnitude < infinity) return sign_bit | magnitude;
  const bool to_infinity =
      mode == Rounding::nearest || mode == Rounding::away || mode == (sign ? Rounding::down : Rounding::up);
  return sign_bit | (to_infinity ? infinity : infinity - 1);
}

template <class T>
T round_to(double x, Rounding mode);
template <>
inline F16 round_to<F16>(double x, Rounding mode) {
  return is_nan(x) ? canonical_nan<F16>() : F16{static_cast<uint16_t>(round_bits(x, 5, 10, mode))};
}
template <>
inline Bf16 round_to<Bf16>(double x, Rounding mode) {
  return is_nan(x) ? canonical_nan<Bf16>() : Bf16{static_cast<uint16_t>(round_bits(x, 8, 7, mode))};
}
template <>
inline float round_to<float>(double x, Rounding mode) {
  if (is_nan(x)) return canonical_nan<float>();
  if (mode == Rounding::nearest) return static_cast<float>(x);
  return std::bit_cast<float>(static_cast<uint32_t>(round_bits(x, 8, 23, mode)));
}
template <>
inline double round_to<double>(double x, Rounding) {
  return x;
}

/// What the result of an operation is rounded to.
struct How {
  constexpr How(Rounding m, bool f = false) : mode(m), flush(f) {}  // NOLINT(google-explicit-constructor)
  Rounding mode;
  bool flush;  ///< .ftz: a result that is subnormal becomes a zero of its sign
};
/// `exact`, rounded, with .ftz.  A result is subnormal if it lies below the least normal number when it is rounded
/// to the format's precision with an exponent that has no limits; so an H100 decides.
template <class T>
T round_result(double exact, How how) {
  const T rounded = round_to<T>(exact, how.mode);
  if (!how.flush) return rounded;
  // Twice the number has the fraction that an exponent without limits would give it.
  constexpr Bits<T> kTwiceLeast = static_cast<Bits<T>>(Bits<T>{2} << kFractionBits<T>);
  const T twice = round_to<T>(2 * exact, how.mode);
  const bool subnormal = static_cast<Bits<T>>(bits_of(twice) & ~kSignBit<T>) < kTwiceLeast;
  return subnormal ? from_bits<T>(static_cast<Bits<T>>(bits_of(rounded) & kSignBit<T>)) : rounded;
}

/// a + b, rounded to odd.  An exact zero has the sign that the mode gives it.
inline double sum_to_odd(double a, double b, Rounding mode) {
  const double s = a + b;
  if (!std::isfinite(s)) return s;
  if (s == 0) return std::signbit(a) == std::signbit(b) ? s : mode == Rounding::down ? -0.0 : 0.0;
  const double part = s - a, error = (a - (s - part)) + (b - part);
  const auto bits = std::bit_cast<uint64_t>(s);
  if (error == 0 || (bits & 1)) return s;
  return std::bit_cast<double>((error > 0) == (s > 0) ? bits + 1 : bits - 1);
}

/// .sat: to [0, 1]; NaN and -0 become +0.
template <class T>
T saturate(T x) {
  const double value = to_double(x);
  if (!(value > 0)) return from_bits<T>(0);
  return value < 1 ? x : round_to<T>(1.0, Rounding::nearest);
}
/// .relu: negative numbers become +0, NaN stays.
template <class T>
T relu(T x) {
  if (is_nan(x)) return canonical_nan<T>();
  return bits_of(x) & kSignBit<T> ? from_bits<T>(0) : x;
}

// ---- f64 in modes other than to nearest: rounding64.cpp sets the processor's mode for one operation ----
double add64(double a, double b, Rounding mode);
double mul64(double a, double b, Rounding mode);
double fma64(double a, double b, double c, Rounding mode);
double div64(double a, double b, Rounding mode);
double sqrt64(double a, Rounding mode);

// ---- the operations of PTX on one number ----

template <class T>
T float_add(T a, T b, How how) {
  return round_result<T>(sum_to_odd(to_double(a), to_double(b), how.mode), how);
}
template <class T>
T float_sub(T a, T b, How how) {
  return round_result<T>(sum_to_odd(to_double(a), -to_double(b), how.mode), how);
}
template <class T>
T float_mul(T a, T b, How how) {
  return round_result<T>(to_double(a) * to_double(b), how);
}
template <class T>
T float_fma(T a, T b, T c, How how) {
  return round_result<T>(sum_to_odd(to_double(a) * to_double(b), to_double(c), how.mode), how);
}
template <class T>
T float_div(T a, T b, How how) {
  return round_result<T>(to_double(a) / to_double(b), how);
}
template <class T>
T float_sqrt(T a, How how) {
  return round_result<T>(std::sqrt(to_double(a)), how);
}

// f64: of NaN operands b is the result, else c, else a; so an H100.

template <>
inline double float_add(double a, double b, How how) {
  if (is_nan(b)) return quiet(b);
  return how.mode == Rounding::nearest ? a + b : add64(a, b, how.mode);
}
template <>
inline double float_sub(double a, double b, How how) {
  if (is_nan(b)) return quiet(b);
  return how.mode == Rounding::nearest ? a - b : add64(a, -b, how.mode);
}
template <>
inline double float_mul(double a, double b, How how) {
  if (is_nan(b)) return quiet(b);
  return how.mode == Rounding::nearest ? a * b : mul64(a, b, how.mode);
}
template <>
inline double float_fma(double a, double b, double c, How how) {
  if (is_nan(b)) return quiet(b);
  if (is_nan(c)) return quiet(c);
  return how.mode == Rounding::nearest ? std::fma(a, b, c) : fma64(a, b, c, how.mode);
}
template <>
inline double float_div(double a, double b, How how) {
  return how.mode == Rounding::nearest ? a / b : div64(a, b, how.mode);
}
template <>
inline double float_sqrt(double a, How how) {
  return how.mode == Rounding::nearest ? std::sqrt(a) : sqrt64(a, how.mode);
}

/// -0 < +0; a NaN gives the other operand, two NaNs the canonical one, of f64 the second.
template <class T>
T of_two_nans(T b) {
  return std::is_same_v<T, double> ? quiet(b) : canonical_nan<T>();
}
template <class T>
T float_min(T a, T b) {
  if (is_nan(a)) return is_nan(b) ? of_two_nans(b) : b;
  if (is_nan(b)) return a;
  const double x = to_double(a), y = to_double(b);
  if (x == y) return bits_of(a) & kSignBit<T> ? a : b;
  return x < y ? a : b;
}
template <class T>
T float_max(T a, T b) {
  if (is_nan(a)) return is_nan(b) ? of_two_nans(b) : b;
  if (is_nan(b)) return a;
  const double x = to_double(a), y = to_double(b);
  if (x == y) return bits_of(a) & kSignBit<T> ? b : a;
  return x > y ? a : b;
}
/// abs and neg, which ptxas makes an addition: a NaN becomes the canonical one, of f64 it stays as it is.
template <class T>
T float_magnitude(T a) {
  return from_bits<T>(static_cast<Bits<T>>(bits_of(a) & ~kSignBit<T>));
}
template <class T>
T float_abs(T a) {
  if (is_nan(a)) return std::is_same_v<T, double> ? quiet(a) : canonical_nan<T>();
  return float_magnitude(a);
}
template <class T>
T float_neg(T a) {
  if (is_nan(a)) return std::is_same_v<T, double> ? quiet(a) : canonical_nan<T>();
  return from_bits<T>(static_cast<Bits<T>>(bits_of(a) ^ kSignBit<T>));
}

}  // namespace sm100::ptx
