// SPDX-License-Identifier: Apache-2.0
/// Parameters of the grouped 1D-2D matmul.
#pragma once

#include "kernels/blockwise/params.h"
#include "kernels/grouped_1d1d/group_params.h"

namespace sm100 {

/// Scales of one expert's B.
struct ExpertScales {
  GlobalAddr b_scales;  ///< row-major, blocks of N x k blocks
  int n_blocks, k_blocks;
};

/// C[row] = factor of its expert * sum over k blocks of scale_a[block][row] * scale_b[expert][n / 128][block] *
/// (A[row] B[expert]^T over the block).  `m` is all rows of A and C, `n` the rows of one expert's B; the map of B
/// is of all experts, one below the other, and so are their scales: `n_blocks` rows of each.  The scales of each
/// group's tokens begin at a multiple of 16 bytes: TMA begins nowhere else.
struct Grouped1d2dParams : BlockwiseParams {
  GroupParams groups;

  SM100_HD ExpertScales scales_of(const Blockwise auto& cfg, int expert) const {
    return {b_scales + uint64_t(expert) * uint64_t(n_blocks) * uint64_t(k_blocks) * bytes_per_scale(cfg), n_blocks,
            k_blocks};
  }
};

}  // namespace sm100
