// SPDX-License-Identifier: Apache-2.0
/// What a run proves about the kernel, beside how it ended: whether what was looked at is all there is to look at.
#pragma once

#include "kernels/host/scenario.h"
#include "sim/run_result.h"

namespace sm100::sim {

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
