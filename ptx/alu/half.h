// SPDX-License-Identifier: Apache-2.0
/// Numbers of every float type as a double, which holds each of them exactly.
#pragma once

#include "kernels/isa/number_formats.h"
#include "ptx/alu/lanes.h"

namespace sm100::ptx {

inline double to_double(F16 x) { return decode_f16(x.bits); }
inline double to_double(Bf16 x) { return decode_bf16(x.bits); }
inline double to_double(float x) { return x; }
inline double to_double(double x) { return x; }

inline bool is_nan(F16 x) { return (x.bits & 0x7fff) > 0x7c00; }
inline bool is_nan(Bf16 x) { return (x.bits & 0x7fff) > 0x7f80; }
inline bool is_nan(float x) { return x != x; }
inline bool is_nan(double x) { return x != x; }

template <class T>
T canonical_nan();
template <>
inline F16 canonical_nan<F16>() {
  return {0x7fff};
}
template <>
inline Bf16 canonical_nan<Bf16>() {
  return {0x7fff};
}
template <>
inline float canonical_nan<float>() {
  return std::bit_cast<float>(0x7fffffffu);
}
template <>
inline double canonical_nan<double>() {
  return std::bit_cast<double>(uint64_t{0xfff8} << 48);
}

template <class T>
constexpr Bits<T> kSignBit = static_cast<Bits<T>>(Bits<T>{1} << (8 * sizeof(T) - 1));

template <class T>
Bits<T> bits_of(T x) {
  return std::bit_cast<Bits<T>>(x);
}
template <class T>
T from_bits(Bits<T> x) {
  return std::bit_cast<T>(x);
}

/// Fraction bits of a type.
template <class T>
constexpr int kFractionBits = 0;
template <>
inline constexpr int kFractionBits<F16> = 10;
template <>
inline constexpr int kFractionBits<Bf16> = 7;
template <>
inline constexpr int kFractionBits<float> = 23;
template <>
inline constexpr int kFractionBits<double> = 52;

/// A NaN as hardware hands an operand on that it does not compute with: quiet, with its sign and payload.
template <class T>
T quiet(T x) {
  return from_bits<T>(static_cast<Bits<T>>(bits_of(x) | Bits<T>{1} << (kFractionBits<T> - 1)));
}

/// .ftz: a subnormal number becomes a zero of its sign.
template <class T>
T flush(T x) {
  const Bits<T> magnitude = static_cast<Bits<T>>(bits_of(x) & ~kSignBit<T>);
  return magnitude >> kFractionBits<T> == 0 ? from_bits<T>(static_cast<Bits<T>>(bits_of(x) & kSignBit<T>)) : x;
}
template <bool kFlush, class T>
T flush_if(T x) {
  if constexpr (kFlush)
    return flush(x);
  else
    return x;
}

}  // namespace sm100::ptx
