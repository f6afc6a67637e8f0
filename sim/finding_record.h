// SPDX-License-Identifier: Apache-2.0
/// Puts what a run found into its trace: on which track, when, and which places have to do with it.
#pragma once

#include <string>

#include "sim/hang_report.h"
#include "sim/run_observer.h"
#include "sim/run_result.h"

namespace sm100::sim {

/// On the track of the warp that did it, else of the barrier, else of the CTA.  Nothing when nobody records.
void record_finding(RunObserver& observer, const models::Violation& violation, const Finding& finding,
                    std::string report);

/// On the track of the role that the message names; of a run that is stopped, which names none, on the GPU's.
/// @param cycle  that the report names
void record_hang(RunObserver& observer, const HangReport& hang, models::Cycles cycle);

/// What is known of where the numbers come from: a finding for each cause, on the track of the role that it names,
/// at the first span of the line that it names.
/// @param launches  whose roles the causes name
void record_provenance(RunObserver& observer, const LaunchList& launches, const RunResult& result);

}  // namespace sm100::sim
