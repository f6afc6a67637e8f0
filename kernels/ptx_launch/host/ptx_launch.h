// SPDX-License-Identifier: Apache-2.0
/// The launch of an entry as values, as a program's runtime library has them: no launch file, and memory that is
/// there already.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/ptx_launch/host/ptx_problem.h"

namespace sm100::host {

/// Global memory that a kernel may reach.
struct PtxMemory {
  uint64_t address = 0, bytes = 0;
  uint8_t* there = nullptr;  ///< its bytes; the kernel reads and writes these
};

struct PtxLaunchValues {
  std::shared_ptr<const ptx::Module> module;
  size_t entry = 0;  ///< of the module
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t dynamic_smem_bytes = 0;
  std::vector<uint8_t> parameters;  ///< the parameter window
  std::vector<PtxMemory> memory;
  std::vector<uint64_t> variables;     ///< PtxProblem::variables
  uint64_t grid_workspace = 0;         ///< PtxProblem::grid_workspace
  std::function<void()> before_trial;  ///< KernelRun::before_trial
};

/// What a launch file would say.  Throws InputError, as of `name`, where the entry does not take such a launch.
PtxProblem problem_of(const PtxLaunchValues& launch, const std::string& name);

}  // namespace sm100::host
