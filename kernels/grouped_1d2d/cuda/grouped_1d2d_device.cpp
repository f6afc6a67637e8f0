// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/grouped_1d2d/cuda/grouped_1d2d.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_run.h"

namespace sm100::cuda {

DeviceKernel grouped_1d2d_device() {
  return device_kernel<host::Grouped1d2dRun>(host::grouped_1d2d_definition(), grouped_1d2d_kernels(), {100});
}

}  // namespace sm100::cuda
