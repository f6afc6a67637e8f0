// SPDX-License-Identifier: Apache-2.0
/// Parameters of the block-scaled matmul.
#pragma once

#include "kernels/epilogue/block_quantizer.h"
#include "kernels/matmul/params.h"

namespace sm100 {

/// C[m][n] = sum over k of A[m][k] SFA[m][k / block] * B[n][k] SFB[n][k / block].  The maps of A and B count bytes,
/// and that of a quantised C.
struct BlockScaledParams : MatmulParams {
  TensorMap sfa;  ///< {256 x 16 bits, atoms along K, atoms along M}: a box is the scales of a k tile
  TensorMap sfb;  ///< the same along N
  ScaledOutputParams scaled_output;
};

}  // namespace sm100
