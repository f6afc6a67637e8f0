// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/direct/direct_kernel.h"
#include "kernels/direct/host/direct_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode direct_code() {
  return code_of<host::DirectRun>(host::direct_definition(), [](auto& isa, const auto& config, const auto& params) {
    direct_kernel(isa, config, params);
  });
}

}  // namespace sm100::sim
