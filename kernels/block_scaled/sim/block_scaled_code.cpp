// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/block_scaled/block_scaled_kernel.h"
#include "kernels/block_scaled/host/block_scaled_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode block_scaled_code() {
  return code_of<host::BlockScaledRun>(
      host::block_scaled_definition(),
      [](auto& isa, const auto& config, const auto& params) { block_scaled_kernel(isa, config, params); });
}

}  // namespace sm100::sim
