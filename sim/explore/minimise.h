// SPDX-License-Identifier: Apache-2.0
/// Takes a failing set of delays apart: which few of them are enough, and how long they have to be (delta
/// debugging).
#pragma once

#include <functional>
#include <vector>

#include "models/profiles/jitter_point.h"

namespace sm100::sim {

using Delays = std::vector<models::Delay>;

/// Which of `count` sets still fail in the same way; false for those that there is no budget left for.  A set is
/// made when its turn comes: all of them may not fit into memory.
using Reproduce = std::function<std::vector<bool>(size_t count, const std::function<Delays(size_t)>& set)>;

/// A subset that still fails, and from which no single delay can be taken, unless the budget ends before.
/// @param failing   delays that fail; chunks of neighbours are tried, so related ones should stand together
/// @param progress  called with what is left
Delays smallest_subset(Delays failing, const Reproduce& reproduce,
                       const std::function<void(const Delays&)>& progress = {});

/// Does with fewer delays, where the others may be as long as `longest` allows.
Delays fewer_but_longer(Delays failing, const std::function<uint64_t(const models::Delay&)>& longest,
                        const Reproduce& reproduce);

/// The same delays, each as short as the failure allows while the others are as they are.
Delays shortest_cycles(Delays failing, const Reproduce& reproduce);

}  // namespace sm100::sim
