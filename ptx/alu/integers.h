// SPDX-License-Identifier: Apache-2.0
/// Products of integers of every width, without overflow in C++'s sense.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sm100::ptx {

/// An unsigned type in which arithmetic wraps and is not promoted to int.
template <class T>
using Unsigned = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

namespace detail {
template <class T>
struct DoubleOf;
template <>
struct DoubleOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct DoubleOf<int16_t> {
  using type = int32_t;
};
template <>
struct DoubleOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct DoubleOf<int32_t> {
  using type = int64_t;
};
template <>
struct DoubleOf<uint64_t> {
  __extension__ using type = unsigned __int128;
};
template <>
struct DoubleOf<int64_t> {
  __extension__ using type = __int128;
};
}  // namespace detail

/// Twice as wide.
template <class T>
using Double = typename detail::DoubleOf<T>::type;

template <class T>
constexpr T mul_lo(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) * Unsigned<T>(b));
}
template <class T>
constexpr T mul_hi(T a, T b) {
  return static_cast<T>((Double<T>(a) * Double<T>(b)) >> (8 * sizeof(T)));
}

}  // namespace sm100::ptx
