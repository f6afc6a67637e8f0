// SPDX-License-Identifier: Apache-2.0
/// Looks for the change of a single instruction that makes a failing scenario right: runs it once to see what it
/// executes, then again with each change (sim/mend/changes.h), in processes of their own.
///
/// What makes the run right is not always what a human would write, but it is a proof: nothing else is wrong.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/explore/failure.h"
#include "sim/mend/changes.h"
#include "sim/run_result.h"

namespace sm100::sim {

struct MendOptions {
  int jobs = 1;
  std::chrono::seconds time{60};  ///< for the changes; 0: no limit
  size_t enough = 8;              ///< changes that mend it, then the search ends; 0: all are looked for
};

/// A change that makes the run right: it passes, what has a reference is verified, and nothing is warned of.
struct Mending {
  Change change;
  InstructionSite site;
  RunResult result;
};

struct MendResult {
  RunResult failing;           ///< the run as it is
  bool right = false;          ///< nothing is wrong with it
  std::vector<Mending> found;  ///< in the order of changes_of()
  size_t changes = 0;          ///< there are
  size_t tried = 0;
  bool out_of_time = false;
  double seconds = 0;
};

/// @param progress  called now and then with the fraction done and a few words
/// Throws InputError when the scenario cannot run, std::runtime_error when the simulator fails.
MendResult mend(const host::Scenario& scenario, const MendOptions& options,
                const std::function<void(double, std::string_view)>& progress);

}  // namespace sm100::sim
