// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/copy/cuda/copy.h"
#include "kernels/copy/host/copy_run.h"
#include "kernels/cuda/run/device_kernel.h"

namespace sm100::cuda {

DeviceKernel copy_device() {
  return device_kernel<host::CopyRun>(host::pipeline_copy_definition(), copy_kernels(), {90, 100});
}

}  // namespace sm100::cuda
