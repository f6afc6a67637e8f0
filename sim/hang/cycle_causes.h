// SPDX-License-Identifier: Apache-2.0
/// Of waits that wait for each other: the one whose debtor should have come already, else the circle itself.
#pragma once

#include "sim/hang/causes.h"

namespace sm100::sim {

/// Certainty 0: the wait is in no cycle.
Cause cycle_cause(const WaitGraph& graph, const Wait& wait);

}  // namespace sm100::sim
