// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/copy/copy_kernel.h"
#include "kernels/copy/host/copy_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode pipeline_copy_code() {
  return code_of<host::CopyRun>(
      host::pipeline_copy_definition(),
      [](auto& isa, const auto& config, const auto& params) { copy_kernel(isa, config, params); });
}

}  // namespace sm100::sim
