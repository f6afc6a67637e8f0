// SPDX-License-Identifier: Apache-2.0
/// Parameters of the block-scaled matmul in CUTLASS's arrangement.
#pragma once

#include "kernels/block_scaled/params.h"

namespace sm100 {

/// C[m][n] = alpha * sum over k of A[m][k] SFA[m][k / block] * B[n][k] SFB[n][k / block] + beta * residual[m][n].
struct CutlassBlockScaledParams : BlockScaledParams {
  TensorMap residual;  ///< as that of C
};

}  // namespace sm100
