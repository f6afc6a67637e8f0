// SPDX-License-Identifier: Apache-2.0
/// Kernel parameters of the fallback kernel (`__grid_constant__` on the device).
#pragma once

#include "kernels/isa/tensor_map.h"

namespace sm100 {

/// C[m][n] = sum over k of A[m][k] * B[n][k]; all three row-major.
struct FallbackParams {
  TensorMap a;   ///< {K, M}, box {64, block_m}
  TensorMap b;   ///< {K, N}, box {64, block_n}
  GlobalAddr c;  ///< M x N elements; any N
  int m = 0, n = 0, k = 0;
};

}  // namespace sm100
