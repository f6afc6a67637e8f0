// SPDX-License-Identifier: Apache-2.0
/// Why a setmaxnreg.inc waits: the CTA's registers, who has them, and whether the budgets of its warpgroups add up.
#pragma once

#include <string>

#include "sim/hang/causes.h"

namespace sm100::sim {

/// "its threads have 168 registers and want 232; the pool has none".
std::string missing_registers(const Wait& wait);

/// Warps of the same partition that hold what they had at launch, or more; those that have exited first.
Debts register_debts(const Wait& wait);

/// Without whom is at fault.
Cause register_cause(const Wait& wait);

}  // namespace sm100::sim
