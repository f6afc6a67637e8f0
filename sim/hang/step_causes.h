// SPDX-License-Identifier: Apache-2.0
/// One side of a ring takes a step more or less than the other: what the boxes of its copies say of it.  And a CTA
/// that the mask of a commit leaves out.
#pragma once

#include <string>
#include <vector>

#include "sim/hang/causes.h"

namespace sm100::sim {

/// Who waits for a step that is not there, or has filled one: the copies have come to the end of their tensors, or
/// lie behind it.
Cause step_too_many_cause(const WaitGraph& graph, const Wait& w);
/// "; its last copies end at 896 of 1,024 along dimension 0": of who has left the ring; empty: they do not end
/// early.
std::string last_box_text(const WaitGraph& graph, const Wait& w, const Debt& debt);
/// Who owes has committed to the barrier in other CTAs of the cluster, by a mask, and never in this one.
Cause left_out_cause(const WaitGraph& graph, const Wait& w, const std::vector<Debt>& passed);

}  // namespace sm100::sim
