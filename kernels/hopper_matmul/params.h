// SPDX-License-Identifier: Apache-2.0
/// Kernel parameters of hopper_matmul (`__grid_constant__` on the device).
#pragma once

#include "kernels/isa/tensor_map.h"
#include "kernels/scheduler/static_walk.h"

namespace sm100 {

/// C[m][n] = sum over k of A[m][k] * B[n][k]; all three row-major.
struct HopperMatmulParams {
  TensorMap a;      ///< {K, M}, box {k tile, rows of a CTA's tile}
  TensorMap b;      ///< {K, N}, box {k tile, columns of a tile / cluster}
  TensorMap c;      ///< {N, M}, box {strip, 64}
  StaticGrid grid;  ///< rows are those of a cluster
};

}  // namespace sm100
