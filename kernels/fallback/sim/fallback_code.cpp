// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/fallback/fallback_kernel.h"
#include "kernels/fallback/host/fallback_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode fallback_code() {
  return code_of<host::FallbackRun>(
      host::fallback_definition(),
      [](auto& isa, const auto& config, const auto& params) { fallback_kernel(isa, config, params); });
}

}  // namespace sm100::sim
