// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/blockwise/cuda/blockwise.h"
#include "kernels/blockwise/host/blockwise_run.h"
#include "kernels/cuda/run/device_kernel.h"

namespace sm100::cuda {

DeviceKernel blockwise_device() {
  return device_kernel<host::BlockwiseRun>(host::blockwise_definition(), blockwise_kernels(), {100});
}

}  // namespace sm100::cuda
