// SPDX-License-Identifier: Apache-2.0
/// Configuration of the fallback kernel and what follows from it.
///
/// The simplest complete kernel of the family: 128 threads without roles, one tile per CTA, one k tile in shared
/// memory at a time, nothing overlaps.  It stores its tile element by element, so the rows of C may have any pitch:
/// N is free.
#pragma once

#include "kernels/epilogue/output_strip.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/swizzle.h"
#include "kernels/pipeline/smem_layout.h"
#include "kernels/pipeline/smem_tile.h"

namespace sm100 {

struct FallbackConfig {
  DataType output = DataType::bf16;  ///< C: bf16 or f32; A and B are bf16
  int block_m = 128;                 ///< rows of a tile: 64 or 128
  int block_n = 128;                 ///< columns: 8 to 256 in steps of 8 (64 rows) or 16 (128 rows)

  static constexpr Swizzle swizzle = Swizzle::b128;  ///< of A and B in shared memory

  constexpr bool operator==(const FallbackConfig&) const = default;
};

inline constexpr int kFallbackWarps = 4;
inline constexpr int kFallbackThreads = 32 * kFallbackWarps;
inline constexpr int kFallbackBarrier = 0;       ///< named barrier of the whole CTA
inline constexpr int kFallbackElementBytes = 2;  ///< BF16
inline constexpr int kFallbackBlockK = 64;       ///< one swizzle span of 128 bytes per row
inline constexpr int kFallbackMmaK = 16;         ///< 32 bytes

/// Role of a warp, for reports and traces: all do the same, but warp 0 issues copies and MMAs.
constexpr const char* fallback_role(int) { return "warp"; }

template <class C>
SM100_HD constexpr TileShape fallback_a_tile(const C& c) {
  return {DataType::bf16, c.block_m, kFallbackBlockK, Swizzle::b128};
}
template <class C>
SM100_HD constexpr TileShape fallback_b_tile(const C& c) {
  return {DataType::bf16, c.block_n, kFallbackBlockK, Swizzle::b128};
}

}  // namespace sm100
