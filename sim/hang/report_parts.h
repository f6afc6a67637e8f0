// SPDX-License-Identifier: Apache-2.0
/// The parts of a hang report below its cause: waits that follow, a barrier's last events, what still runs.
#pragma once

#include <string>

#include "sim/hang/wait_graph.h"

namespace sm100::sim {

/// All waits but the root's, equal ones of several CTAs in one line, the nearest to the root first.
/// @param root  SIZE_MAX: none, as when the cycle budget ended the run
std::string waits_text(const WaitGraph& graph, size_t root);
/// What happened to the barrier of a wait in its open phase, else the end of the phase before.
std::string events_text(const Wait& wait);

}  // namespace sm100::sim
