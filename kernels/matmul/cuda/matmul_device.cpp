// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/matmul/cuda/matmul.h"
#include "kernels/matmul/host/matmul_run.h"

namespace sm100::cuda {

DeviceKernel matmul_device() {
  return device_kernel<host::MatmulRun>(host::matmul_definition(), matmul_kernels(), {100});
}

}  // namespace sm100::cuda
