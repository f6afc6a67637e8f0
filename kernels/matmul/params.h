// SPDX-License-Identifier: Apache-2.0
/// Kernel parameters of the dense matmul (`__grid_constant__` on the device).
#pragma once

#include "kernels/epilogue/element_functor.h"
#include "kernels/isa/tensor_map.h"
#include "kernels/matmul/split_reduction.h"

namespace sm100 {

/// C[m][n] = sum over k of A[m][k] * B[n][k]; all three row-major.
struct MatmulParams {
  TensorMap a;  ///< {K, M}, box {block_k, block_m}
  TensorMap b;  ///< {K, N}, box {block_k, block_n}
  TensorMap c;  ///< {N, M}, box {strip_columns, strip_rows}
  FunctorParams functor;
  SplitParams split;
  int m = 0, n = 0, k = 0;  ///< of the user's product
};

/// What a tensor copy takes: a map among the parameters by its address, one in global memory by its place there.
SM100_HD inline const TensorMap* map_of(const TensorMap& map) { return &map; }
SM100_HD inline GlobalAddr map_of(GlobalAddr map) { return map; }

}  // namespace sm100
