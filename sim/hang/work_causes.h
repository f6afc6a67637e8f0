// SPDX-License-Identifier: Apache-2.0
/// Hangs that follow from a role that works on other tiles, or on more or fewer steps of one, than its peers.
#pragma once

#include "sim/hang/causes.h"

namespace sm100::sim {

Cause work_cause(const WaitGraph& graph, const Wait& wait);

}  // namespace sm100::sim
