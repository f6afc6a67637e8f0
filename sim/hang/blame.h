// SPDX-License-Identifier: Apache-2.0
/// Who is at fault for a cause: role, CTA, warps, the line where they should have acted, and what they do instead.
#pragma once

#include <string>
#include <vector>

#include "sim/hang/causes.h"

namespace sm100::sim {

/// Names the debtors of the first one's CTA and role among `debts` as those at fault.
void blame(Cause& cause, const WaitGraph& graph, const Wait& wait, const std::vector<Debt>& debts);

/// Blames whoever has armed the open phase of the mbarrier.
void blame_arming(Cause& cause, const WaitGraph& graph, const Wait& wait);

/// Blames the warp that an event of the mbarrier comes from, at the event's line.
void blame_source(Cause& cause, const WaitGraph& graph, const Wait& wait, const models::Source& by);

/// Blames whoever has initialised the mbarrier.
void blame_init(Cause& cause, const WaitGraph& graph, const Wait& wait);

/// "of CTA 3", nothing where the GPU runs one CTA per cluster and the barrier is in the same one.
std::string of_cta(const Wait& wait, int cta);

}  // namespace sm100::sim
