// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/hopper_matmul/cuda/hopper_matmul.h"
#include "kernels/hopper_matmul/host/hopper_matmul_run.h"

namespace sm100::cuda {

DeviceKernel hopper_matmul_device() {
  return device_kernel<host::HopperMatmulRun>(host::hopper_matmul_definition(), hopper_matmul_kernels(), {90});
}

}  // namespace sm100::cuda
