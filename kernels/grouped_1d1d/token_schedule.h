// SPDX-License-Identifier: Apache-2.0
/// How tokens lie in their tensor, and how the tiles of their groups are handed out and stored.
#pragma once

#include <cstdint>

#include "kernels/isa/portability.h"

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

/// What the configuration of a kernel for groups of tokens has beside its matmul's.
struct TokenSchedule {
  TokenLayout layout = TokenLayout::prefix_sum;
  int work_stages = 0;  ///< 0: every warp replays the walk over the tiles; else slots of the scheduler warp's ring
  bool whole_tiles =
      false;  ///< tiles that cross a group's end are stored as the others are, with their foreign rows

  constexpr bool operator==(const TokenSchedule&) const = default;
};

}  // namespace sm100
