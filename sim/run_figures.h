// SPDX-License-Identifier: Apache-2.0
/// The figures of a run: its length, its rates, what it moved, where the warps of each role spent their time.
#pragma once

#include "sim/ended_run.h"
#include "sim/run_result.h"

namespace sm100::sim {

/// Everything of RunResult that is counted or measured on the device, and its notes.
void measure(const EndedRun& run, RunResult& result);

}  // namespace sm100::sim
