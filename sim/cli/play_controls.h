// SPDX-License-Identifier: Apache-2.0
/// What can be changed of a scenario in `sm100sim play`, and what each control allows beside the others' values.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/cli/json_output.h"

namespace sm100::sim::cli {

/// The keys that controls set, "config.stages".  No key that names a file is among them.
const std::set<std::string>& play_keys();

/// The controls of a scenario, each with its value now.  A number has the smallest and largest value of its field;
/// a choice has what it sets and, where the scenario refuses that, the reader's own sentence.
/// @param overrides  with which it was loaded, but for those of faults
Json play_controls(const host::Scenario& scenario, const std::vector<std::string>& overrides);

}  // namespace sm100::sim::cli
