// SPDX-License-Identifier: Apache-2.0
/// Carries a launch out, in a process of its own: on the models, with all checks, or, where no instruction of it
/// needs them, without.
#pragma once

#include <functional>

#include "exec/device_memory.h"
#include "exec/launch.h"

namespace sm100::exec {

/// What a scenario would say of the launch.  Throws host::InputError where the device does not take it.
/// @param device  a scenario with the profile and the number of SMs
host::Scenario scenario_of(const Launch& launch, const host::Scenario& device, const DeviceMemory& memory);

/// How far a launch on the models has come.
struct LaunchProgress {
  double fraction = 0;  ///< of its CTAs' work
  uint64_t cycle = 0;
};

/// Returns when the launch is over, or when `wanted` has said that nobody waits for it any more, which it is asked
/// now and then.
/// @param recorded  the outcome has the trace of a launch on the models
LaunchOutcome carry_out(const Launch& launch, const host::Scenario& scenario, bool recorded,
                        const std::function<bool(const LaunchProgress&)>& wanted);

}  // namespace sm100::exec
