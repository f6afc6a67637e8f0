// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a run: its violations, its hang and its wrong numbers as findings, with their reports.  The
/// trace gets them too, where one is recorded.
#pragma once

#include "sim/ended_run.h"
#include "sim/run_result.h"

namespace sm100::sim {

/// What ended the run early, violations or a hang, as findings with a report; nothing for a run that completed.
void report_end(const EndedRun& run, RunResult& result);

/// What is legal but hardly meant, as warnings.
void report_warnings(const EndedRun& run, Comparison numbers, RunResult& result);

/// Reads of what nobody wrote, of a run whose results nobody compares: RunResult::suspects.
void list_suspects(const EndedRun& run, RunResult& result);

/// Why the numbers are wrong, where the run knows it, as findings with a report: reads of what nobody wrote, if the
/// result is no number (else they are warnings), and output that nobody wrote.
/// @param result  its `check` says what is wrong
void explain_wrong_numbers(const EndedRun& run, RunResult& result);

}  // namespace sm100::sim
