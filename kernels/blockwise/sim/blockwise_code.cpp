// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/blockwise/blockwise_kernel.h"
#include "kernels/blockwise/host/blockwise_run.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode blockwise_code() {
  return code_of<host::BlockwiseRun>(
      host::blockwise_definition(),
      [](auto& isa, const auto& config, const auto& params) { blockwise_kernel(isa, config, params); });
}

}  // namespace sm100::sim
