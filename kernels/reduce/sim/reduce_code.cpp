// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/reduce/host/reduce_run.h"
#include "kernels/reduce/reduce_kernel.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode reduce_code() {
  return code_of<host::ReduceRun>(host::reduce_definition(), [](auto& isa, const auto& config, const auto& params) {
    reduce_kernel(isa, config, params);
  });
}

}  // namespace sm100::sim
