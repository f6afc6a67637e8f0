// SPDX-License-Identifier: Apache-2.0
/// The role code behind the name, for the simulator.
#include "kernels/micro/host/micro_runs.h"
#include "kernels/micro/tma_tiles.h"
#include "kernels/micro/umma_batches.h"
#include "sim/kernel_code.h"

namespace sm100::sim {

KernelCode umma_batches_code() {
  return code_of<host::UmmaBatchesRun>(
      host::umma_batches_definition(),
      [](auto& isa, const auto& config, const auto&) { umma_batches_kernel(isa, config); });
}

KernelCode tma_tiles_code() {
  return code_of<host::TmaTilesRun>(
      host::tma_tiles_definition(),
      [](auto& isa, const auto& config, const auto& params) { tma_tiles_kernel(isa, config, params); });
}

}  // namespace sm100::sim
