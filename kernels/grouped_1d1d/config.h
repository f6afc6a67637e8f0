// SPDX-License-Identifier: Apache-2.0
/// Configuration of the grouped 1D-1D matmul: the block-scaled matmul's, how tokens lie in their tensor, and how
/// tiles are handed out.
#pragma once

#include "kernels/block_scaled/config.h"
#include "kernels/grouped_1d1d/token_schedule.h"

namespace sm100 {

/// Of the base: clc_stages is 0 and static_scheduler false, the cluster is the pair or the CTA, and `scaled` says
/// that experts have factors of their own.
struct Grouped1d1dConfig : BlockScaledConfig, TokenSchedule {
  constexpr Grouped1d1dConfig() { clc_stages = 0; }
  constexpr bool operator==(const Grouped1d1dConfig&) const = default;
};

/// Where the scales of a group's rows lie is counted in atoms, where they lie in atoms, else in rows.
template <class C>
SM100_HD constexpr int rows_per_scale_group(const C&) {
  return BlockScaled<C> ? kScaleAtomRows : 1;
}
/// Scales of a group begin at a multiple of so many rows' scales: with an atom, or where TMA may begin, at 16
/// bytes (kernels/blockwise/config.h).
template <class C>
SM100_HD constexpr int scale_granule_rows(const C& c) {
  if constexpr (BlockScaled<C>)
    return kScaleAtomRows;
  else
    return scales_of_16_bytes(c);
}
/// Of so many rows with their padding.
template <class C>
SM100_HD constexpr int scale_groups(const C& c, int rows) {
  return ceil_div(rows, scale_granule_rows(c)) * (scale_granule_rows(c) / rows_per_scale_group(c));
}

/// Rows of tokens in a tile of the MMA: swapped, tokens run along its N.
template <class C>
SM100_HD constexpr int token_rows(const C& c) {
  return c.ab_swapped ? c.mma_n : c.mma_m;
}
/// Rows of an expert's B in such a tile: columns of C.
template <class C>
SM100_HD constexpr int expert_rows(const C& c) {
  return c.ab_swapped ? c.mma_m : c.mma_n;
}

}  // namespace sm100
