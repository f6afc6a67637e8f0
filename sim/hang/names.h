// SPDX-License-Identifier: Apache-2.0
/// Words of hang reports: CTAs, warps, barriers.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/hang/wait_graph.h"

namespace sm100::sim {

/// "CTA 1", "CTAs 0-3, 8".
std::string ctas_text(std::vector<int> ctas);
/// "mma (warp 6)", "epilogue (warps 0-3)".
std::string warps_text(const std::string& role, const std::vector<int>& warps);

inline std::string text_of(const BarrierName& b) { return fmt::format("{}[{}]", b.array->name, b.stage); }

/// "misses 1 of 224 arrivals: mbarrier.arrive of mma (warp 6) of CTA 3": all that the wait misses, and who owes it.
std::string missing_text(const Wait& wait);
/// "input_full[1] parity 0", "named barrier 1", "locks[12]".
std::string waited_for(const Wait& wait);

}  // namespace sm100::sim
