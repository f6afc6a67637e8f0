// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/grouped_block_scaled/cuda/grouped_block_scaled.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_run.h"

namespace sm100::cuda {

DeviceKernel grouped_block_scaled_device() {
  return device_kernel<host::GroupedBlockScaledRun>(host::grouped_block_scaled_definition(),
                                                    grouped_block_scaled_kernels(), {100});
}

}  // namespace sm100::cuda
