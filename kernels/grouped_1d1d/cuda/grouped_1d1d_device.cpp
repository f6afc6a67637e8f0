// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/grouped_1d1d/cuda/grouped_1d1d.h"
#include "kernels/grouped_1d1d/host/grouped_1d1d_run.h"

namespace sm100::cuda {

DeviceKernel grouped_1d1d_device() {
  return device_kernel<host::Grouped1d1dRun>(host::grouped_1d1d_definition(), grouped_1d1d_kernels(), {100});
}

}  // namespace sm100::cuda
