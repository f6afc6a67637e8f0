// SPDX-License-Identifier: Apache-2.0
/// A delayed point in words: which operation of which role, and the barrier that it is about.
#pragma once

#include <string>

#include "models/jitter.h"
#include "sim/launch_list.h"

namespace sm100::sim {

/// "+412 cycles: tma load 17 of load (warp 5) of CTA 0 for input_full[3], at cycle 8,123  load_warp.h:36"
std::string delay_text(const models::Jitter::Replayed& replayed, const LaunchList& launches);

}  // namespace sm100::sim
