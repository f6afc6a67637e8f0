// SPDX-License-Identifier: Apache-2.0
/// The result of an exploration as JSON (docs/json.md).
#pragma once

#include <string>

#include "sim/cli/json_output.h"
#include "sim/explore/explore.h"

namespace sm100::sim::cli {

/// The object of `explore --json`.
/// @param replay  the command that runs the replay file; empty: there is none
Json explore_json(const host::Scenario& scenario, const ExploreOptions& options, const Exploration& exploration,
                  const std::string& replay);

}  // namespace sm100::sim::cli
