// SPDX-License-Identifier: Apache-2.0
/// The SM clock of a scenario that says what it is to follow from (run.sm_clock_ghz = "power" or "single"): runs of
/// it in processes of their own, for timing only, until the clock of the last is the one that follows from it.
#pragma once

#include "kernels/host/scenario.h"
#include "sim/prepared.h"
#include "sim/run_result.h"

namespace sm100::sim {

/// What SystemC elaborates must not be there yet.  Of a scenario that does not pass it is the full clock.
/// @param prepared  what runs before have computed; nullptr: nothing
ClockResult find_clock(const host::Scenario& scenario, const Prepared* prepared);

/// The scenario at that clock.
host::Scenario at_clock(const host::Scenario& scenario, const ClockResult& clock);

}  // namespace sm100::sim
