// SPDX-License-Identifier: Apache-2.0
/// Spans that were recorded by trace points, beside spans that were derived from what a warp waits for and issues.
#pragma once

#include <string>
#include <vector>

#include "traces/diff/alignment.h"

namespace sm100::traces {

/// The trace's configuration says "spans": "derived".
bool spans_are_derived(const Trace& trace);

/// Leaves what both ways of making spans can know: waits for the same barriers and the same kinds of work, each run
/// of spans of one kind as its first; no tiles.
/// @return  what it has left out, "setup of A (B's spans are derived)"
std::vector<std::string> keep_what_both_know(RoleTracks& a, RoleTracks& b, bool a_derived, bool b_derived);

/// A GPU's records of PTX name a barrier by its offset and a phase by its parity.  Where one trace comes from such
/// records, both name them so.
void name_as_records_do(const Trace& a, const Trace& b, RoleTracks& tracks_a, RoleTracks& tracks_b);

}  // namespace sm100::traces
