// SPDX-License-Identifier: Apache-2.0
/// The structural half of diff.h: what happened.
#pragma once

#include "traces/diff/diff.h"

namespace sm100::traces {

/// Pairs of spans of A and B that mean the same, in order.
using MatchedSpans = std::vector<std::pair<const RoleTrack*, std::pair<const Span*, const Span*>>>;

/// @param matched  filled with every pair up to each track's divergence
/// @param rings    how the depths of the rings differ by configuration, "stages: 2, 6": stages and phases follow
/// from that, and so
///                 do the barriers' events; they are not compared then.  Empty: they do not differ
StructureDiff compare_structure(const Trace& a, const Trace& b, const RoleTracks& tracks_a,
                                const RoleTracks& tracks_b, MatchedSpans& matched, const std::string& rings = {});

}  // namespace sm100::traces
