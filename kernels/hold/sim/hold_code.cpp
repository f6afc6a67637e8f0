// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/hold/hold_kernel.h"
#include "kernels/hold/host/hold_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode hold_code() {
  return code_of<host::HoldRun>(host::hold_definition(), [](auto& isa, const auto& config, const auto& params) {
    hold_kernel(isa, config, params);
  });
}

}  // namespace sm100::sim
