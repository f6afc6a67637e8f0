// SPDX-License-Identifier: Apache-2.0
/// Runs one scenario on the model.  SystemC elaborates once per process, so a process calls this once.
#pragma once

#include <optional>
#include <vector>

#include "kernels/host/problem.h"
#include "kernels/host/scenario.h"
#include "sim/run_result.h"
#include "traces/recorder.h"

namespace sm100::sim {

/// What several runs of one scenario share, so that each need not compute it again: the bytes of its tensors, and an
/// output that has been compared with the reference.
struct Prepared {
  std::vector<std::vector<uint8_t>> tensors;  ///< in the order of Problem::tensors(); empty: not filled
  std::optional<uint64_t> right_output;       ///< RunResult::output_hash
  host::Check check;                          ///< of that output
};
/// Fills the tensors.
Prepared prepare(const host::Scenario& scenario);

/// Of a run among many.
struct RunAmongMany {
  const Prepared* prepared = nullptr;
  bool record_delays = false;  ///< RunResult::drawn
};

/// Builds the device, launches the kernel, runs it to its end, a hang or a finding, and checks the numbers.
/// @param recorder  receives role spans, unit spans and barrier events; nullptr records nothing.
/// Throws InputError when the scenario cannot run (for example tiles that exceed shared memory).
RunResult run_simulation(const host::Scenario& scenario, traces::Recorder* recorder,
                         const RunCallbacks& callbacks = {}, const RunAmongMany& among = {});

}  // namespace sm100::sim
