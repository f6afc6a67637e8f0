/// Runs one scenario on the model.  SystemC elaborates once per process, so a process calls this once.
#pragma once

#include "kernels/host/scenario.h"
#include "sim/run_result.h"
#include "traces/recorder.h"

namespace sm100::sim {

/// Builds the device, launches the kernel, runs it to its end, a hang or a finding, and checks the numbers.
/// @param recorder  receives role spans, unit spans and barrier events; nullptr records nothing.
/// Throws InputError when the scenario cannot run (for example tiles that exceed shared memory).
RunResult run_simulation(const host::Scenario& scenario, traces::Recorder* recorder,
                         const RunCallbacks& callbacks = {});

}  // namespace sm100::sim
