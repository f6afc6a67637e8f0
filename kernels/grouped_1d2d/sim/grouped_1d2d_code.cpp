// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/grouped_1d2d/grouped_1d2d_kernel.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode grouped_1d2d_code() {
  return code_of<host::Grouped1d2dRun>(
      host::grouped_1d2d_definition(),
      [](auto& isa, const auto& config, const auto& params) { grouped_1d2d_kernel(isa, config, params); });
}

}  // namespace sm100::sim
