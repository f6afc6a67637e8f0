// SPDX-License-Identifier: Apache-2.0
/// Why a wait on an mbarrier cannot end: its count, its bytes, a wait out of turn, what is past its delivery.
#pragma once

#include "sim/hang/causes.h"

namespace sm100::sim {

/// The first rule that speaks, in the order of certainty; certainty 0 if none does.
Cause mbarrier_cause(const WaitGraph& graph, const Wait& wait);

}  // namespace sm100::sim
