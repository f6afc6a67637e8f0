// SPDX-License-Identifier: Apache-2.0
/// Geometry of the output strips: the epilogue writes C in strips of 32, 16 or 8 columns, two buffers in
/// turn. Function templates over the kernel's Config (kernels/matmul/config.h), so that they fold on the
/// device.
#pragma once

#include <type_traits>

#include "kernels/epilogue/strip_store.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/swizzle.h"

namespace sm100 {

template <class C>
SM100_HD constexpr int output_bytes(const C& c) {
  return element_bits(c.output) / 8;
}
/// Of an element of C in memory.
template <class C>
SM100_HD constexpr int output_bits(const C& c) {
  return element_bits(c.output);
}
/// M = 128 of a pair (data-path layout B): each CTA has 64 rows, and its accumulator holds the left half of the
/// columns in lanes 0-63 and the right half in lanes 64-127.
template <class C>
SM100_HD constexpr bool halves_side_by_side(const C& c) {
  return c.cta_group == 2 && c.mma_m == 128;
}
/// Columns of tensor memory that an accumulator takes.
template <class C>
SM100_HD constexpr int accumulator_columns(const C& c) {
  return halves_side_by_side(c) ? c.mma_n / 2 : c.mma_n;
}
/// Warps that write a strip, one for each quarter of tensor memory's lanes.
inline constexpr int kStripWarps = 4;
/// Columns that a warp takes from tensor memory at a time, of an accumulator of `n` columns.
SM100_HD constexpr int widest_strip(int n) { return n % 32 == 0 ? 32 : n % 16 == 0 ? 16 : 8; }
template <class C>
SM100_HD constexpr int strip_columns(const C& c) {
  if (output_bytes(c) == 1) return 16;  // two columns of fp8 are a store: rows of 16 bytes, not swizzled
  return widest_strip(accumulator_columns(c));
}
/// Calls f(R) with R = strip columns / 8 as a constant: register blocks have fixed sizes.  For a configuration that is a
/// type (kernels/matmul/cuda/compiled_config.h) f has one instance, where a switch would compile three and keep one.
template <class C, class F>
SM100_KERNEL auto with_strip_registers(const C& c, F&& f) {
  if constexpr (std::is_empty_v<C>) {
    return f(std::integral_constant<int, strip_columns(C{}) / 8>{});
  } else {
    switch (strip_columns(c)) {
      case 32: return f(std::integral_constant<int, 4>{});
      case 16: return f(std::integral_constant<int, 2>{});
      default: return f(std::integral_constant<int, 1>{});
    }
  }
}
/// Rows of a strip in shared memory; in layout B rows 64-127 are the right half of the columns.
template <class C>
SM100_HD constexpr int strip_rows(const C& c) {
  return c.cta_group == 2 ? 128 : c.mma_m;
}
/// Rows that one TMA store takes.
template <class C>
SM100_HD constexpr int store_rows(const C& c) {
  return halves_side_by_side(c) ? strip_rows(c) / 2 : strip_rows(c);
}
template <class C>
SM100_HD constexpr int strips_per_tile(const C& c) {
  return accumulator_columns(c) / strip_columns(c);
}
template <class C>
SM100_HD constexpr uint32_t strip_row_bytes(const C& c) {
  return uint32_t(strip_columns(c) * output_bytes(c));
}
template <class C>
SM100_HD constexpr uint32_t strip_bytes(const C& c) {
  return uint32_t(strip_rows(c)) * strip_row_bytes(c);
}
/// Transposed strips are blocks of strip_columns rows of 128 bytes, each this many rows of the tile wide.
template <class C>
SM100_HD constexpr int block_columns(const C& c) {
  return 128 / output_bytes(c);
}
/// A strip row of 16, 32, 64 or 128 bytes is exactly one swizzle span.
template <class C>
SM100_HD constexpr Swizzle strip_swizzle(const C& c) {
  if (c.ab_swapped) return Swizzle::b128;
  switch (strip_row_bytes(c)) {
    case 128: return Swizzle::b128;
    case 64: return Swizzle::b64;
    case 32: return Swizzle::b32;
    default: return Swizzle::none;
  }
}
/// M = 64 accumulators use lanes 0-15 of each warp's quarter only (data-path layout F): no lower fragment.
template <class C>
SM100_HD constexpr bool has_lower_fragment(const C& c) {
  return strip_rows(c) == 128;
}

/// Where a warp's part of a strip lies.
struct WarpPart {
  int strip_row;  ///< its first row in the strip
  int half;       ///< layout B: 0 the left half of the columns, 1 the right; else 0
  int row;        ///< its first row in the tile
};
template <class C>
SM100_HD constexpr WarpPart warp_part(const C& c, int warp) {
  const int strip_row = warp * (has_lower_fragment(c) ? 32 : 16);
  const int half = halves_side_by_side(c) ? warp / 2 : 0;
  return {strip_row, half, strip_row - half * store_rows(c)};
}

}  // namespace sm100
