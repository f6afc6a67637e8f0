// SPDX-License-Identifier: Apache-2.0
/// Loops that do nothing but wait, recognised from the code.
#pragma once

#include <vector>

#include "ptx/program.h"

namespace sm100::ptx {

/// Loops whose body holds one mbarrier.try_wait or test_wait, or one load that may see another thread's store, and
/// besides it only what looks at the answer: moves, comparisons, logic of predicates, branches, nanosleep.
std::vector<Wait> find_waits(const Program& program);
/// Instructions mbarrier.try_wait and test_wait whose answer decides nothing: no guard, address, store or call depends
/// on it, whatever way the code takes.  Whoever waits with one of them goes on in any case.
std::vector<uint32_t> find_ignored_answers(const Program& program);
/// Atomics that are polls of such loops: a lock that is tried, a counter that is read with an atomic.
std::vector<uint32_t> find_atomic_polls(const Program& program);

}  // namespace sm100::ptx
