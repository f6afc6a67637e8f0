// SPDX-License-Identifier: Apache-2.0
/// Conversions and comparisons that most code consists of, without branches and in f32 alone, so that compilers
/// compute lanes side by side.  Each gives the bits of its general form (convert.cpp, convert_narrow.cpp,
/// floats.cpp).
#pragma once

#include <cmath>
#include <limits>

#include "ptx/alu/half.h"
#include "ptx/alu/rounding.h"

namespace sm100::ptx::side_by_side {

#define SM100_INLINE inline __attribute__((always_inline))

SM100_INLINE uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
SM100_INLINE float single(uint32_t x) { return std::bit_cast<float>(x); }
/// `condition` as a mask: a select that cannot become a branch.
SM100_INLINE uint32_t choose(bool condition, uint32_t yes, uint32_t no) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}
template <bool kFlush>
SM100_INLINE float flushed(float x) {
  if constexpr (!kFlush) return x;
  const uint32_t bits = bits_of(x);
  return single(choose((bits & 0x7fffffffu) < 0x00800000u, bits & 0x80000000u, bits));
}

// ---- f32 to halves, to nearest ----

/// f32 in the low 16 bits.
template <class H, bool kFlush = false>
SM100_INLINE uint32_t half_bits(float x) {
  const uint32_t bits = bits_of(flushed<kFlush>(x)), sign = bits & 0x80000000u, magnitude = bits ^ sign;
  if constexpr (std::is_same_v<H, Bf16>) {
    const uint32_t rounded = (magnitude + 0x7fffu + (magnitude >> 16 & 1)) >> 16;
    return choose(magnitude > 0x7f800000u, 0x7fffu, rounded | sign >> 16);
  } else {
    const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
    // An f16 below its least normal number is a multiple of 2^-24, which is the last place of 0.5.
    const uint32_t subnormal = bits_of(single(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t finite = choose(magnitude < 0x38800000u, subnormal, normal);
    const uint32_t number = choose(magnitude >= 0x47800000u, 0x7c00u, finite) | sign >> 16;
    return choose(magnitude > 0x7f800000u, 0x7fffu, number);
  }
}
template <class H, bool kFlush = false>
struct HalfFromSingle {
  H operator()(float x) const { return {static_cast<uint16_t>(half_bits<H, kFlush>(x))}; }
};

/// The largest number instead of an infinity; of the canonical NaN nothing.
template <class H, bool kRelu, bool kFinite>
SM100_INLINE uint32_t narrowed(float x) {
  constexpr uint32_t kInfinity = std::is_same_v<H, F16> ? 0x7c00u : 0x7f80u;
  uint32_t half = half_bits<H>(x);
  if (kFinite) half = choose((half & 0x7fffu) == kInfinity, half - 1, half);
  return kRelu ? choose(half >> 15, 0, half) : half;
}
/// cvt.f16x2.f32 and its kin: the first source goes to the upper half.
template <class H, bool kRelu, bool kFinite>
struct HalvesFromSingles {
  uint32_t operator()(float a, float b) const {
    return narrowed<H, kRelu, kFinite>(a) << 16 | narrowed<H, kRelu, kFinite>(b);
  }
};

// ---- halves to f32 ----

template <class H>
SM100_INLINE uint32_t single_bits(H x) {
  const uint32_t half = x.bits;
  if constexpr (std::is_same_v<H, Bf16>) return half << 16;
  const uint32_t magnitude = half & 0x7fffu;
  // The exponent's bias is 112 less; the product is exact.
  const uint32_t finite = bits_of(single(magnitude << 13) * 0x1p112f);
  const uint32_t number = choose(magnitude >= 0x7c00u, 0x7f800000u, finite) | (half & 0x8000u) << 16;
  return choose(magnitude > 0x7c00u, 0x7fffffffu, number);
}
template <class H>
struct SingleFromHalf {
  float operator()(H x) const { return single(single_bits(x)); }
};

// ---- integers ----

/// To nearest, as the host converts.
template <class D, class S>
struct FloatFromInteger {
  D operator()(S x) const {
    // Hosts convert signed integers: two halves, and one rounding when they are added.
    if constexpr (std::is_same_v<S, uint32_t> && std::is_same_v<D, float>)
      return static_cast<float>(static_cast<int32_t>(x >> 16)) * 65536.0f +
             static_cast<float>(static_cast<int32_t>(x & 0xffffu));
    else
      return static_cast<D>(x);
  }
};

/// To an integer, without the host's instructions for it, which compilers do not use for vectors.
template <Rounding kMode>
SM100_INLINE float to_integral(float x) {
  const uint32_t sign = bits_of(x) & 0x80000000u;
  const float magnitude = std::fabs(x), nearest = (magnitude + 0x1p23f) - 0x1p23f;
  float d = nearest;
  if constexpr (kMode == Rounding::zero) d = nearest - (nearest > magnitude ? 1.0f : 0.0f);
  if constexpr (kMode == Rounding::down || kMode == Rounding::up) {
    const float from = single(bits_of(nearest) | sign);
    d = kMode == Rounding::down ? from - (from > x ? 1.0f : 0.0f) : from + (from < x ? 1.0f : 0.0f);
  }
  return single(choose(magnitude < 0x1p23f, (bits_of(d) & 0x7fffffffu) | sign, bits_of(x)));
}
/// D: a type of 32 bits.  What is outside of it becomes its end, NaN 0.
template <class D, Rounding kMode, bool kFlush>
struct IntegerFromSingle {
  D operator()(float a) const {
    const float exact = flushed<kFlush>(a);  // a conversion rounds to zero itself
    const float x = kMode == Rounding::zero ? exact : to_integral<kMode>(exact);
    if constexpr (std::is_signed_v<D>) {
      const float inside = single(choose(std::fabs(x) < 0x1p31f, bits_of(x), 0));
      const auto number = static_cast<uint32_t>(static_cast<int32_t>(inside));
      return static_cast<D>(choose(x >= 0x1p31f, 0x7fffffffu, choose(x <= -0x1p31f, 0x80000000u, number)));
    } else {
      const bool high = x >= 0x1p31f;
      const float from = single(bits_of(x) & choose(x > 0 && x < 0x1p32f, ~0u, 0));
      const float low = from - single(choose(high, bits_of(0x1p31f), 0));
      const float inside = single(choose(low >= 0 && low < 0x1p31f, bits_of(low), 0));
      const uint32_t number = static_cast<uint32_t>(static_cast<int32_t>(inside)) | choose(high, 0x80000000u, 0);
      return choose(x >= 0x1p32f, ~0u, number);
    }
  }
};
/// cvt.rni.f32.f32 and its kin.
template <Rounding kMode, bool kFlush>
struct IntegralSingle {
  float operator()(float a) const {
    const float x = flushed<kFlush>(a);
    const uint32_t sign = bits_of(x) & 0x80000000u;
    const uint32_t d = (bits_of(to_integral<kMode>(x)) & 0x7fffffffu) | sign;
    return single(choose(x != x, 0x7fffffffu, d));
  }
};

// ---- comparisons ----

/// min and max of f32: -0 < +0; a NaN gives the other operand (or, with .NaN, itself), two NaNs the canonical one.
template <bool kMin, bool kFlush, bool kNan>
struct Extreme {
  float operator()(float a, float b) const {
    const uint32_t x = bits_of(flushed<kFlush>(a)), y = bits_of(flushed<kFlush>(b));
    // As integers they have the order of numbers, -0 before +0.
    const auto ordered = [](uint32_t bits) {
      return static_cast<int32_t>(bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) >> 1));
    };
    const bool first = kMin ? ordered(x) < ordered(y) : ordered(x) > ordered(y);
    const bool x_is_nan = (x & 0x7fffffffu) > 0x7f800000u, y_is_nan = (y & 0x7fffffffu) > 0x7f800000u;
    const uint32_t number = choose(first, x, y);
    if constexpr (kNan) return single(choose(x_is_nan | y_is_nan, 0x7fffffffu, number));
    const uint32_t other = choose(y_is_nan, choose(x_is_nan, 0x7fffffffu, x), y);
    return single(choose(x_is_nan, other, choose(y_is_nan, x, number)));
  }
};

#undef SM100_INLINE

}  // namespace sm100::ptx::side_by_side
