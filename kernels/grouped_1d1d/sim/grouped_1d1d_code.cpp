// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/grouped_1d1d/grouped_1d1d_kernel.h"
#include "kernels/grouped_1d1d/host/grouped_1d1d_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode grouped_1d1d_code() {
  return code_of<host::Grouped1d1dRun>(
      host::grouped_1d1d_definition(),
      [](auto& isa, const auto& config, const auto& params) { grouped_1d1d_kernel(isa, config, params); });
}

}  // namespace sm100::sim
