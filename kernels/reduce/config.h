// SPDX-License-Identifier: Apache-2.0
/// Configuration of the reduction kernel: D = P0 + P1 + ..., the partial sums of GEMMs over parts of k, added in
/// f32.
///
/// Four warps without roles; a warp takes strips of 128 neighbouring elements, each lane four of them (one
/// ld.global.v4 for each partial sum).  The order of the sums is fixed, so the result is exact.
#pragma once

#include "kernels/isa/number_formats.h"

namespace sm100 {

struct ReduceConfig {
  int slices = 2;                    ///< partial sums
  DataType output = DataType::bf16;  ///< D: bf16 or f32; the partial sums are f32
  bool pdl = false;                  ///< programmatic dependent launch

  constexpr bool operator==(const ReduceConfig&) const = default;
};

inline constexpr int kReduceWarps = 4;
inline constexpr int kReduceThreads = 32 * kReduceWarps;
inline constexpr int kReduceMostSlices = 8;
inline constexpr int kReduceLaneElements = 4;                          ///< of one access: 16 bytes of f32
inline constexpr int kReduceStripElements = 32 * kReduceLaneElements;  ///< of one warp
inline constexpr int kReduceWarpStrips = 4;                            ///< one after the other
inline constexpr int kReduceWarpElements = kReduceWarpStrips * kReduceStripElements;
inline constexpr int kReduceCtaElements = kReduceWarps * kReduceWarpElements;

/// Role of a warp, for reports and traces: all do the same.
constexpr const char* reduce_role(int) { return "reduce"; }

}  // namespace sm100
