// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/cutlass_block_scaled/cutlass_block_scaled_kernel.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode cutlass_block_scaled_code() {
  return code_of<host::CutlassBlockScaledRun>(
      host::cutlass_block_scaled_definition(),
      [](auto& isa, const auto& config, const auto& params) { cutlass_block_scaled_kernel(isa, config, params); });
}

}  // namespace sm100::sim
