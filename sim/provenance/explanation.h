// SPDX-License-Identifier: Apache-2.0
/// What a run has found out about where its numbers come from, as findings, warnings and text of its result.
#pragma once

#include "sim/ended_run.h"
#include "sim/provenance/record.h"
#include "sim/run_result.h"

namespace sm100::sim::provenance {

/// Stores to the outputs of the run's launches are to be kept.
void watch_outputs(const host::RunPlan& plan, const std::vector<std::vector<GlobalAddr>>& tensors, Record& record);

/// Of two stores to one element of an output: whose tile it is not, or which tiles were had that should not; empty:
/// the kernel does not say what its tiles are, or they are as they should be.
/// @param both_write  else one reads
std::vector<std::string> tiles_of_race(const EndedRun& run, uint64_t address, int first_cta, int second_cta,
                                       bool both_write);

/// Tiles that the CTA has had outside of its launch's outputs, and others like it; empty: it has had none.
/// @param cta  linear id
std::vector<std::string> stray_tiles(const EndedRun& run, int cta);

/// Of a CTA whose copies for a stage have read one tensor alone: that the product has two; empty: it is none of
/// them.
/// @param tensor  its address
std::string one_operand_alone(const EndedRun& run, int cta, uint64_t tensor);

/// Tensor maps in global memory, as kernels edit them, that differ from the tensors of a CTA's launch; empty: none
/// does.
/// @param cta  linear id
std::vector<std::string> maps_that_differ(const EndedRun& run, int cta);

/// A copy that has read an output of its launch: of which group, and that no product multiplies it; empty: it is
/// none.
/// @param cta  linear id
std::vector<std::string> read_of_output(const EndedRun& run, int cta, uint64_t address);

/// Tiles that lie outside of the outputs and that some CTA has had, where nothing else is wrong.
std::vector<Finding> tiles_outside(const EndedRun& run);

/// Adds what differs from what should be: causes of wrong numbers, or findings where the numbers are right.
void explain(const EndedRun& run, const Record& record, RunResult& result);

/// A finding that says only that output is missing gets the place and the reason that provenance has found.
void complete_findings(RunResult& result);

/// What a repetition with provenance has found, into the result of the run that it repeats.
void adopt(const RunResult& repetition, RunResult& result);

}  // namespace sm100::sim::provenance
