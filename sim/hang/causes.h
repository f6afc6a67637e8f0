// SPDX-License-Identifier: Apache-2.0
/// Why a wait cannot end, by rule, and how surely that is the root of the hang rather than a consequence.
#pragma once

#include <string>

#include "sim/hang/wait_graph.h"

namespace sm100::sim {

struct Cause {
  int certainty = 0;  ///< the largest of all waits is the root
  std::string text;
  /// Who should have acted: warps of one role in one CTA; cta -1: not known.
  std::string fault_role;
  int fault_cta = -1;
  std::vector<int> fault_warps;
  Cta* fault_slot = nullptr;
  Loc fault_loc{};          ///< where it should have acted, or acted wrongly
  bool after_line = false;  ///< its role has never done so: the line is that of the wait before it
  std::string fault_doing;  ///< and what it does instead
};

/// Rules in the order of their certainty: a barrier that was initialised wrongly, bytes that do not add up, a wait
/// out of turn, a debtor that is past its delivery, one that has exited, a cycle.
Cause cause_of(const WaitGraph& graph, const Wait& wait);

/// A copy that signals the barrier is on its way.
bool copy_in_flight(const WaitGraph& graph, const Wait& wait);

}  // namespace sm100::sim
