// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/reduce/cuda/reduce.h"
#include "kernels/reduce/host/reduce_run.h"

namespace sm100::cuda {

DeviceKernel reduce_device() {
  return device_kernel<host::ReduceRun>(host::reduce_definition(), reduce_kernels(), {90, 100});
}

}  // namespace sm100::cuda
