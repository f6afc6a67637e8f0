// SPDX-License-Identifier: Apache-2.0
/// What several runs of one scenario share, so that each need not compute it again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/host/run_plan.h"

namespace sm100::sim {

/// The bytes of a scenario's tensors, and an output that has been compared with the reference.
struct Prepared {
  std::vector<std::vector<uint8_t>>
      tensors;  ///< in the order of KernelRun::tensors(); empty: not filled, of a run of several kernels too
  std::optional<uint64_t> right_output;  ///< RunResult::output_hash
  host::Check check;                     ///< of that output
};
/// Fills the tensors.  Throws InputError when they do not fit into memory.
Prepared prepare(const host::Scenario& scenario);

/// Operands, result and their float64 copies must fit, or the operating system would end the run without a word.
void check_memory(const host::Scenario& scenario, const host::RunPlan& plan);

}  // namespace sm100::sim
