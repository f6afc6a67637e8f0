// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/hold/cuda/hold.h"
#include "kernels/hold/host/hold_run.h"

namespace sm100::cuda {

DeviceKernel hold_device() {
  return device_kernel<host::HoldRun>(host::hold_definition(), hold_kernels(), {90, 100});
}

}  // namespace sm100::cuda
