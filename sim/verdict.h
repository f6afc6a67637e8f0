// SPDX-License-Identifier: Apache-2.0
/// What a run means: its outcome, its verdict, whether it ends as its scenario expects, and what the process
/// returns for it. All of it is decided here; everybody else asks.
#pragma once

#include <string>
#include <string_view>

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

/// Completes a result that has its findings, its check and its cycles: sets outcome, not_checked, unmatched_faults,
/// unexpected.
void judge(const host::Scenario& scenario, RunEnd end, Comparison numbers, RunResult& result);

/// "pass", "mismatch", "hang", "findings": for [expect], JSON and traces.
std::string_view name(Outcome outcome);
/// Throws std::invalid_argument for any other name.
Outcome outcome_named(std::string_view name);

/// What a run proves about the kernel, beside how it ended: whether what was looked at is all there is to look at.
enum class Verdict {
  clean,       ///< everything was checked, nothing found; there may be warnings
  findings,    ///< the kernel is wrong: a finding, a hang or wrong numbers
  incomplete,  ///< nothing found, but RunResult::not_checked says what was not looked at
  error,       ///< the simulator could not judge: it lacks an instruction (bad input leaves no result at all)
};
std::string_view name(Verdict verdict);
Verdict verdict_of(const RunResult& result);

/// The outputs were compared, and RunResult::check is what is to be said of them: findings that explain wrong
/// numbers say more.
bool compared(const RunResult& result);
/// RunResult::check in words; empty unless compared().
std::string numbers_text(const RunResult& result);

/// What is wrong with the run first; nullptr: nothing.
const Finding* first_finding(const RunResult& result);

/// Whether a run ends as its scenario says, one line; empty: it does.  A scenario without [expect] should pass.
/// RunResult::unexpected is this for `run`, where a scenario without [expect] may end in any way.
std::string not_as_expected(const host::Expectation& expect, const RunResult& result);

/// What the process returns; documented in docs/run.md.
enum ExitCode { kOk = 0, kResultsDiffer = 1, kBadInput = 2, kHang = 3, kFindings = 4, kInternalError = 5 };

ExitCode exit_code_of(Outcome outcome);
/// The outcome's, unless a [[fault]] matched nothing: then the run was not the one that the scenario describes.
ExitCode exit_code_of(const RunResult& result);

}  // namespace sm100::sim
