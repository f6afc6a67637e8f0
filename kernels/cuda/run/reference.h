// SPDX-License-Identifier: Apache-2.0
/// Is the device's result right?  A plain BF16 product is compared with cuBLAS where the library is present,
/// everything else with the host's reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/host/kernel_run.h"

namespace sm100::cuda {

/// @param bytes      tensors on the host, the output downloaded
/// @param addresses  the same tensors on the device
host::Check check_result(const host::KernelRun& run, const std::vector<std::vector<uint8_t>>& bytes,
                         const std::vector<GlobalAddr>& addresses);

/// C = A * B^T in float by cuBLAS: A is m x k, B n x k, both row-major BF16 on the device; C m x n row-major.
/// False if there is no cuBLAS on this machine.  Throws CudaError if it fails.
bool cublas_product(int m, int n, int k, GlobalAddr a, GlobalAddr b, std::vector<float>& c);

}  // namespace sm100::cuda
