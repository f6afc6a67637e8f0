// SPDX-License-Identifier: Apache-2.0
/// Parameters of the grouped 1D-1D matmul.
#pragma once

#include "kernels/block_scaled/params.h"

namespace sm100 {

/// What the host cannot know at launch: how many tokens each expert got.  Words of 32 bits in global memory.
struct GroupParams {
  GlobalAddr offsets;        ///< prefix_sum: first row of each group, and the end of the last
  GlobalAddr scale_offsets;  ///< prefix_sum: atom row of a group's first scales, less its first row / 128
  GlobalAddr experts;        ///< prefix_sum: of each group; contiguous: of each row; -1: no expert
  GlobalAddr counts;         ///< masked: rows of each expert's slot that hold tokens
  GlobalAddr expert_scales;  ///< f32, a factor for each expert
  GlobalAddr c;              ///< for stores that are guarded row by row
  int groups = 0;            ///< masked: experts; contiguous: 1
  int slot_rows = 0;         ///< masked
};

/// C[row] = factor of its expert * A[row] B[expert]^T.  `m` is all rows of A and C, `n` the rows of one expert's B;
/// the map of B is of all experts, one below the other, and each expert's scales begin with an atom of their own.
struct Grouped1d1dParams : BlockScaledParams {
  GroupParams groups;
};

}  // namespace sm100
