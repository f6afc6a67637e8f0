// SPDX-License-Identifier: Apache-2.0
/// The barriers' part of the structural diff, where both traces recorded them (simulations): who arrived on what,
/// how often, in which phase.  A missing arrival shows here where it is missing; among the roles only where
/// somebody waits.
#pragma once

#include "traces/diff/structure_diff.h"

namespace sm100::traces {

/// Appends to result.divergences; a divergence's role is "input_empty[2] arrive by consumer (warp 1)", its warp -1.
/// complete_tx is left out: which copy of a phase lands first is timing.
void compare_barriers(const Trace& a, const Trace& b, StructureDiff& result);

}  // namespace sm100::traces
