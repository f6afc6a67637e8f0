// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/direct/cuda/direct.h"
#include "kernels/direct/host/direct_run.h"

namespace sm100::cuda {

DeviceKernel direct_device() {
  return device_kernel<host::DirectRun>(host::direct_definition(), direct_kernels(), {100});
}

}  // namespace sm100::cuda
