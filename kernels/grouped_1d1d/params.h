// SPDX-License-Identifier: Apache-2.0
/// Parameters of the grouped 1D-1D matmul.
#pragma once

#include "kernels/block_scaled/params.h"
#include "kernels/grouped_1d1d/group_params.h"

namespace sm100 {

/// C[row] = factor of its expert * A[row] B[expert]^T.  `m` is all rows of A and C, `n` the rows of one expert's B;
/// the map of B is of all experts, one below the other, and each expert's scales begin with an atom of their own.
struct Grouped1d1dParams : BlockScaledParams {
  GroupParams groups;
};

}  // namespace sm100
