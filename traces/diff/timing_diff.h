// SPDX-License-Identifier: Apache-2.0
/// The timing half of diff.h: when it happened.
#pragma once

#include "traces/diff/structure_diff.h"

namespace sm100::traces {

TimingDiff compare_timing(const Trace& a, const Trace& b, const RoleTracks& tracks_a, const RoleTracks& tracks_b,
                          const MatchedSpans& matched);

}  // namespace sm100::traces
