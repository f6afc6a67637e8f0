// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/matmul/host/matmul_run.h"
#include "kernels/matmul/matmul_kernel.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode matmul_code() {
  return code_of<host::MatmulRun>(host::matmul_definition(), [](auto& isa, const auto& config, const auto& params) {
    matmul_kernel(isa, config, params);
  });
}

}  // namespace sm100::sim
