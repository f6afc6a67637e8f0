// SPDX-License-Identifier: Apache-2.0
/// What the barriers' history and the roles' accounts of a ring say about a finding that names no cause: who has
/// completed the phase that was waited for, who has handed a stage back more often than it has got one, and that
/// the bytes of two stages overlap.
#pragma once

#include "sim/ended_run.h"

namespace sm100::sim {

/// Adds it to the message; nothing where it is not known.
void add_ring_slips(models::Violation& violation, const EndedRun& run);

}  // namespace sm100::sim
