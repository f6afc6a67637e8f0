// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/fallback/cuda/fallback.h"
#include "kernels/fallback/host/fallback_run.h"

namespace sm100::cuda {

DeviceKernel fallback_device() {
  return device_kernel<host::FallbackRun>(host::fallback_definition(), fallback_kernels(), {100});
}

}  // namespace sm100::cuda
