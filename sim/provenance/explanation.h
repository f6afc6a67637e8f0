// SPDX-License-Identifier: Apache-2.0
/// What a run has found out about where its numbers come from, as findings, warnings and text of its result.
#pragma once

#include "sim/ended_run.h"
#include "sim/provenance/record.h"
#include "sim/run_result.h"

namespace sm100::sim::provenance {

/// Stores to the outputs of the run's launches are to be kept.
void watch_outputs(const host::RunPlan& plan, const std::vector<std::vector<GlobalAddr>>& tensors, Record& record);

/// Adds what differs from what should be: causes of wrong numbers, or findings where the numbers are right.
void explain(const EndedRun& run, const Record& record, RunResult& result);

/// A finding that says only that output is missing gets the place and the reason that provenance has found.
void complete_findings(RunResult& result);

/// What a repetition with provenance has found, into the result of the run that it repeats.
void adopt(const RunResult& repetition, RunResult& result);

}  // namespace sm100::sim::provenance
