// SPDX-License-Identifier: Apache-2.0
/// A scenario's kernel on the model: its tensors in modelled memory, its parameters, and the code that each warp runs.
#pragma once

#include <vector>

#include "kernels/host/problem.h"
#include "models/memory_system.h"
#include "sim/kernel.h"

namespace sm100::sim {

/// Grid, resources and barrier names; run_warp is set by bind_code.
Kernel kernel_of(const host::Problem& problem);

/// Allocates the problem's tensors and, with data, fills them.  Every launch has an output of its own, and reads the
/// output of the one before where the scenario feeds it.
/// @param filled  bytes of the tensors, where they have been computed before; nullptr: nowhere
/// @returns  by launch, in the order of Problem::tensors()
std::vector<std::vector<GlobalAddr>> allocate_tensors(const host::Problem& problem, const host::Scenario& scenario,
                                                      models::MemorySystem& memory,
                                                      const std::vector<std::vector<uint8_t>>* filled = nullptr);

/// Sets kernel.run_warp to the scenario's role code, with the parameters of each launch.
/// @param altered  per [[fault]] of the scenario: counts the instructions that it altered
void bind_code(Kernel& kernel, const host::Scenario& scenario, const std::vector<std::vector<GlobalAddr>>& tensors,
               std::vector<uint64_t>& altered);

}  // namespace sm100::sim
