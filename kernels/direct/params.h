// SPDX-License-Identifier: Apache-2.0
/// Kernel parameters of the direct kernel (`__grid_constant__` on the device).
#pragma once

#include "kernels/isa/tensor_map.h"

namespace sm100 {

/// C[m][n] = sum over k of A[m][k] * B[n][k]; all three row-major, M, N and K whole tiles.
struct DirectParams {
  TensorMap a;   ///< {K, M}, box {slab_elements, 128}, or, one copy per stage, {slab_elements, M, slabs of K}
  TensorMap b;   ///< the same of N and direct_b_rows
  GlobalAddr c;  ///< M x N elements
  int m = 0, n = 0, k = 0;
};

}  // namespace sm100
