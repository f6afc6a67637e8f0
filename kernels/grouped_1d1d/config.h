// SPDX-License-Identifier: Apache-2.0
/// Configuration of the grouped 1D-1D matmul: the block-scaled matmul's, how tokens lie in their tensor, and how
/// tiles are handed out.
#pragma once

#include "kernels/block_scaled/config.h"

namespace sm100 {

/// Where the rows of a group are in A and C.
enum class TokenLayout : uint8_t {
  prefix_sum,  ///< groups one behind the other, without gaps: row offsets and an expert for each group
  contiguous,  ///< groups aligned to whole tiles: an expert for each row, -1 in the rows between
  masked,      ///< a slot of fixed size for each expert, and how many of its rows hold tokens
};

SM100_HD constexpr const char* name(TokenLayout layout) {
  return layout == TokenLayout::prefix_sum   ? "prefix_sum"
         : layout == TokenLayout::contiguous ? "contiguous"
                                             : "masked";
}

/// Of the base: clc_stages is 0 and static_scheduler false, the cluster is the pair or the CTA, and `scaled` says
/// that experts have factors of their own.
struct Grouped1d1dConfig : BlockScaledConfig {
  TokenLayout layout = TokenLayout::prefix_sum;
  int work_stages = 0;  ///< 0: every warp replays the walk over the tiles; else slots of the scheduler warp's ring
  bool whole_tiles =
      false;  ///< tiles that cross a group's end are stored as the others are, with their foreign rows

  constexpr Grouped1d1dConfig() { clc_stages = 0; }
  constexpr bool operator==(const Grouped1d1dConfig&) const = default;
};

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
