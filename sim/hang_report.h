/// Explains a hang: the wait that the others follow from, what it misses, who was to deliver that and what it does
/// instead, the likely cause by rule; then every other warp that can never wake.
#pragma once

#include <string>
#include <vector>

#include "models/profiles/profile.h"
#include "sim/cta.h"
#include "sim/run_result.h"

namespace sm100::sim {

struct HangReport {
  std::string text;
  Finding finding;  ///< the wait that explains the others
};

/// @param ctas    CTA slots; those with blocked warps are analysed
/// @param cycle   when nothing was left to do
/// @param budget  cycle budget that ended the run although something was still to do; 0: a hang
/// @param replay  command that reproduces the run
HangReport explain_hang(const std::vector<Cta*>& ctas, models::Cycles cycle, models::Cycles budget,
                        const std::string& replay);

}  // namespace sm100::sim
