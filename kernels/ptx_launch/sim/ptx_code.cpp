// SPDX-License-Identifier: Apache-2.0
/// Warps that execute the PTX of a launch, for the simulator.
#include <memory>

#include "kernels/ptx_launch/host/ptx_run.h"
#include "sim/kernel_code.h"
#include "sim/ptx/ptx_kernel.h"

namespace sm100::sim {

KernelCode ptx_code() {
  return {&host::ptx_definition(), [](const Binding& binding) {
            const auto& run = dynamic_cast<const host::PtxRun&>(binding.run);
            const host::PtxProblem& problem = run.problem();
            std::vector<std::vector<uint8_t>> windows;
            for (const auto& addresses : binding.tensors)
              windows.push_back(
                  run.parameters(addresses, [](const TensorMapFields& fields) { return sm100::encode(fields); }));
            return ptx_runner(binding, *problem.file.module, run.entry(),
                              {problem.grid, problem.block, problem.cluster, problem.dynamic_smem_bytes,
                               problem.variables, problem.grid_workspace},
                              windows);
          }};
}

}  // namespace sm100::sim
