// SPDX-License-Identifier: Apache-2.0
/// Parameters of the blockwise matmul.
#pragma once

#include "kernels/matmul/params.h"

namespace sm100 {

/// C[m][n] = sum over k blocks of scale_a[block][m] * scale_b[n / 128][block] * (A B^T over the block).
struct BlockwiseParams : MatmulParams {
  TensorMap a_scales;   ///< {M, k blocks} of the configuration's scale_dtype, box {block_m, 1}
  GlobalAddr b_scales;  ///< of the same type, row-major: blocks of N x k blocks
  int n_blocks = 0, k_blocks = 0;
};

}  // namespace sm100
