// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/hopper_matmul/hopper_matmul_kernel.h"
#include "kernels/hopper_matmul/host/hopper_matmul_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode hopper_matmul_code() {
  return code_of<host::HopperMatmulRun>(
      host::hopper_matmul_definition(),
      [](auto& isa, const auto& config, const auto& params) { hopper_matmul_kernel(isa, config, params); });
}

}  // namespace sm100::sim
