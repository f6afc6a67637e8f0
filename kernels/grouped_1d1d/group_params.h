// SPDX-License-Identifier: Apache-2.0
/// Where the device reads what groups there are.
#pragma once

#include "kernels/isa/address.h"

namespace sm100 {

/// What the host cannot know at launch: how many tokens each expert got.  Words of 32 bits in global memory.
struct GroupParams {
  GlobalAddr offsets;  ///< prefix_sum: first row of each group, and the end of the last
  GlobalAddr
      scale_offsets;   ///< prefix_sum: place of a group's first scales, less that of its first row without padding
  GlobalAddr experts;  ///< prefix_sum: of each group; contiguous: of each row; -1: no expert
  GlobalAddr counts;   ///< masked: rows of each expert's slot that hold tokens
  GlobalAddr expert_scales;  ///< f32, a factor for each expert
  GlobalAddr c;              ///< for stores that are guarded row by row
  int groups = 0;            ///< masked: experts; contiguous: 1
  int slot_rows = 0;         ///< masked
};

}  // namespace sm100
