// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/registers/host/warpgroup_registers_run.h"
#include "kernels/registers/warpgroup_registers.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode warpgroup_registers_code() {
  return code_of<host::WarpgroupRegistersRun>(
      host::warpgroup_registers_definition(),
      [](auto& isa, const auto& config, const auto&) { warpgroup_registers_kernel(isa, config); });
}

}  // namespace sm100::sim
