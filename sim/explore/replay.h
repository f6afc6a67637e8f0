// SPDX-License-Identifier: Apache-2.0
/// The scenario that replays a failure without a seed: the explored one's text, and a [[delay]] for each delay that
/// matters.
#pragma once

#include <string>

#include "sim/explore/explore.h"

namespace sm100::sim {

/// @param text  of the explored scenario's file
/// @param command  that runs the replay file, for its comment
/// States what is expected, unless the scenario does.
std::string replay_text(const std::string& text, const host::Scenario& scenario, const FailingSeed& found,
                        const std::string& command);

}  // namespace sm100::sim
