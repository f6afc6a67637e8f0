// SPDX-License-Identifier: Apache-2.0
/// Is the device's result right?  A plain BF16 product is compared with cuBLAS where the library is present,
/// everything else with the host's reference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/host/kernel_run.h"

namespace sm100::cuda {

/// @param bytes      tensors on the host, the output downloaded
/// @param addresses  the same tensors on the device
host::Check check_result(const host::KernelRun& run, const std::vector<std::vector<uint8_t>>& bytes,
                         const std::vector<GlobalAddr>& addresses);

/// Launches cuBLAS on the operands of a plain BF16 product, with the kernel's type of C; empty: it is another
/// problem, or there is no cuBLAS.  To be called while `run` and the operands are there.
std::function<void()> cublas_launch(const host::KernelRun& run, const std::vector<GlobalAddr>& addresses);

}  // namespace sm100::cuda
