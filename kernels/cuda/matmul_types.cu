// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/matmul_types.h"

#include "kernels/cuda/matmul_entry.cuh"

namespace sm100 {

template std::span<const MatmulKernel> compiled_kernels<MatmulTypes>();

}  // namespace sm100
