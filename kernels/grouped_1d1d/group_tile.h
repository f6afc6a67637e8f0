// SPDX-License-Identifier: Apache-2.0
/// A tile of a group: place in the group, where the group's tokens and its expert's weights lie.
#pragma once

#include "kernels/grouped_1d1d/config.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

/// Rows first ... end - 1 of A and C belong to one expert.
struct Group {
  int first_row = 0, end_row = 0;
  int scale_group = 0;  ///< place of the first row's scales: atom row, or row where each scale is a row's own
  int expert = -1;

  SM100_HD constexpr bool has_work() const { return expert >= 0 && end_row > first_row; }
};

/// `m` and `n` count from the group's first tile.
struct GroupTile : WorkTile {
  Group group;

  /// First of the tile's rows of tokens; of a pair that is split along them, of this CTA's.
  template <class C>
  SM100_HD constexpr int first_token(const C& c) const {
    return group.first_row + (c.ab_swapped ? n * c.mma_n : m * block_m(c));
  }
};

}  // namespace sm100
