// SPDX-License-Identifier: Apache-2.0
/// What a barrier misses and the same barrier of another CTA of the cluster has got.
#pragma once

#include "sim/hang/causes.h"

namespace sm100::sim {

/// Bytes that nobody expects there.
Cause strayed_bytes_cause(const WaitGraph& graph, const Wait& wait, const MbarrierState& word);

/// An arrival, or bytes, of someone who is past the point of delivery.
/// @param passed  those debtors, who may have gone since
Cause wrong_cta_cause(const WaitGraph& graph, const Wait& wait, const std::vector<Debt>& passed);

/// In the first phase: the barrier of another CTA has got all that is missing here on top of what it should have.
Cause doubled_arrivals_cause(const WaitGraph& graph, const Wait& wait, const MbarrierState& word);

}  // namespace sm100::sim
