// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/block_scaled/cuda/block_scaled.h"
#include "kernels/block_scaled/host/block_scaled_run.h"
#include "kernels/cuda/run/device_kernel.h"

namespace sm100::cuda {

DeviceKernel block_scaled_device() {
  return device_kernel<host::BlockScaledRun>(host::block_scaled_definition(), block_scaled_kernels(), {100});
}

}  // namespace sm100::cuda
