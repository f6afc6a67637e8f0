// SPDX-License-Identifier: Apache-2.0
/// A count that is too high: everyone who may arrive on a barrier has come to its open phase, and the phase still
/// misses arrivals.
///
/// Who may arrive is what the program's text says, what a run has shown, or the kernel's table.  In a cluster the
/// same barrier of all CTAs is looked at together: what has gone to the wrong CTA is missing in one and not in the
/// other, and then nothing is said here.
#pragma once

#include "sim/hang/causes.h"

namespace sm100::sim {

/// Debts::overcounted and Debts::came; none where someone may still owe an arrival.
Debts overcount(const Slots& slots, Cta& owner, const models::Mbarrier::State& state);

/// The init is at fault, if nobody that may arrive waits for anything else than what follows from this wait.
Cause overcount_cause(const WaitGraph& graph, const Wait& wait);

}  // namespace sm100::sim
