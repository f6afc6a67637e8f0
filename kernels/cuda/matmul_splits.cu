// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/matmul_splits.h"

#include "kernels/cuda/matmul_entry.cuh"

namespace sm100 {

template std::span<const MatmulKernel> compiled_kernels<MatmulSplits>();

}  // namespace sm100
