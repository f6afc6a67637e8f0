// SPDX-License-Identifier: Apache-2.0
/// What a run proves about the kernel, beside how it ended: whether what was looked at is all there is to look at.
#pragma once

#include "kernels/host/scenario.h"
#include "sim/run_result.h"

namespace sm100::sim {

/// How a run ended, before anybody looks at its numbers.
enum class RunEnd {
  completed,      ///< all CTAs have exited
  violation,      ///< a unit saw what must not be
  hang,           ///< nothing is left to do, and CTAs have not exited
  out_of_cycles,  ///< run.max_cycles ended it
};

/// What came of comparing the outputs with their reference.
enum class Comparison { none, right, wrong };

/// @param explained  findings say why the numbers are wrong
Outcome outcome_of(RunEnd end, Comparison numbers, bool explained);

enum class Verdict {
  clean,       ///< everything was checked, nothing found; there may be warnings
  findings,    ///< the kernel is wrong: a finding, a hang or wrong numbers
  incomplete,  ///< nothing found, but RunResult::not_checked says what was not looked at
  error,       ///< the simulator could not judge: it lacks an instruction (bad input leaves no result at all)
};

std::string_view name(Verdict verdict);
/// "pass", "mismatch", "hang", "findings": for JSON and traces.
std::string_view name(Outcome outcome);

Verdict verdict_of(const RunResult& result);

/// What the run of this scenario did not look at, one phrase each.
std::vector<std::string> parts_not_checked(const host::Scenario& scenario, const RunResult& result);

}  // namespace sm100::sim
