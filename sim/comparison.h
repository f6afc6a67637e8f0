// SPDX-License-Identifier: Apache-2.0
/// The numbers of a run: its outputs against their reference.
#pragma once

#include "sim/ended_run.h"
#include "sim/prepared.h"
#include "sim/run_result.h"

namespace sm100::sim {

/// Compares the outputs of a run that completed with data: sets output_hash, check, checked_launch and verified.
/// @param prepared  nullptr: nothing has been compared before
Comparison compare_outputs(const EndedRun& run, const Prepared* prepared, RunResult& result);

}  // namespace sm100::sim
