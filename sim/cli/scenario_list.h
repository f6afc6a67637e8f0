// SPDX-License-Identifier: Apache-2.0
/// The scenarios that come with the program, as `sm100sim list scenarios` shows them.
#pragma once

#include <string>

#include "sim/cli/json_output.h"

namespace sm100::sim::cli {

/// Which of them; empty: all.
struct ScenarioFilter {
  std::string folder;  ///< below the directory of the scenarios: "bugs/bytes"
  std::string kernel;  ///< name of a kernel
  std::string check;   ///< id of a check that their [expect] names

  bool empty() const { return folder.empty() && kernel.empty() && check.empty(); }
};

/// An array with name, kernel, profile, description and error of each.  A broken file is listed too, with what is
/// wrong with it.  Throws InputError, one line, for a folder, kernel or check that does not exist, and where there
/// are no scenarios at all.
Json scenarios_json(const ScenarioFilter& filter);

void print_scenarios(const ScenarioFilter& filter);

}  // namespace sm100::sim::cli
