/// Explains a hang: every warp that can never wake, what it waits for, what that misses and who was to
/// deliver it, and the likely cause by rule.
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
