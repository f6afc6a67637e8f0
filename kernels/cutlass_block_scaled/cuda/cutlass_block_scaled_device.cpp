// SPDX-License-Identifier: Apache-2.0
/// The compiled kernels behind the name, for sm100-run.
#include "kernels/cuda/run/device_kernel.h"
#include "kernels/cutlass_block_scaled/cuda/cutlass_block_scaled.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.h"

namespace sm100::cuda {

DeviceKernel cutlass_block_scaled_device() {
  return device_kernel<host::CutlassBlockScaledRun>(host::cutlass_block_scaled_definition(),
                                                    cutlass_block_scaled_kernels(), {100});
}

}  // namespace sm100::cuda
