// SPDX-License-Identifier: Apache-2.0
/// Many scenarios, each in a process of its own: does every one end as it says?
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/run_result.h"

namespace sm100::sim::cli {

struct CheckedScenario {
  enum class Status {
    passed,   ///< it ended as its [expect] says; without one: it passed
    failed,   ///< it did not
    error,    ///< there is no result: bad input, a crash, the time limit
    skipped,  ///< not run; `reason` says why
  };
  std::filesystem::path file;
  std::string folder, name;  ///< "scenarios/bugs/phases", "consumer_runs_ahead"
  Status status = Status::passed;
  std::string reason;            ///< one line; empty: passed
  std::string expected;          ///< "pass", "findings MB5"; empty: not known
  std::string outcome, verdict;  ///< of the run; empty: there was none
  uint64_t cycles = 0;
  std::vector<std::string> findings, warnings;  ///< ids, each once
  std::vector<std::string> not_checked;
  std::string report;  ///< what the run says, and what its process wrote on standard error
  double seconds = 0;
};

struct CheckOptions {
  int jobs = 1;
  bool slow = false;                   ///< run also those whose [expect] says slow
  std::chrono::seconds time_limit{0};  ///< of each scenario; 0: none
};

/// The scenario files that the arguments mean: files, names of `list scenarios`, and whatever lies below a folder;
/// each once, in the order given, those of a folder sorted.  Throws InputError, one line, where an argument means
/// none.
std::vector<std::filesystem::path> scenarios_to_check(const std::vector<std::string>& arguments);

/// Runs them; results in the order of `files`.
/// @param finished  called for each when it is known, with how many are
std::vector<CheckedScenario> check_scenarios(
    const std::vector<std::filesystem::path>& files, const CheckOptions& options,
    const std::function<void(const CheckedScenario&, size_t known)>& finished);

std::string_view name(CheckedScenario::Status status);

}  // namespace sm100::sim::cli
