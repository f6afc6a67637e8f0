// SPDX-License-Identifier: Apache-2.0
/// What a barrier misses and the same barrier of another CTA of the cluster has got, or that of another array.
#pragma once

#include <optional>
#include <string>

#include "sim/hang/causes.h"

namespace sm100::sim {

/// Bytes that nobody expects there.
Cause strayed_bytes_cause(const WaitGraph& graph, const Wait& wait, const MbarrierState& word);

/// An arrival, or bytes, of someone who is past the point of delivery.
/// @param passed  those debtors, who may have gone since
Cause wrong_cta_cause(const WaitGraph& graph, const Wait& wait, const std::vector<Debt>& passed);

/// Bytes of copies by multicast: no mask of a line names this CTA, or two lines that bring different tensors name
/// the same CTAs, and not all of the cluster.
Cause multicast_mask_cause(const WaitGraph& graph, const Wait& wait, const MbarrierState& word);

/// Arrivals of tcgen05.commit by mask: each has reached the CTA, or the pair, of its own alone, where the cluster
/// is larger.
Cause commit_mask_cause(const WaitGraph& graph, const Wait& wait);

/// The bytes of a stage: another array's stage of the same number has got them, alone in its array.
Cause other_array_cause(const WaitGraph& graph, const Wait& wait);

/// Nothing arrives on the array: who arms another one with as many stages, and waits for that itself; empty:
/// nobody.
/// @param by  gets the warp and the line
std::string armed_instead(const Wait& wait, std::optional<models::Source>& by);

/// In the first phase: the barrier of another CTA has got all that is missing here on top of what it should have.
Cause doubled_arrivals_cause(const WaitGraph& graph, const Wait& wait, const MbarrierState& word);

}  // namespace sm100::sim
