// SPDX-License-Identifier: Apache-2.0
/// Explains a hang: the wait that the others follow from, what it misses, who was to deliver that and what it does
/// instead, the likely cause by rule; then every other warp that can never wake.
#pragma once

#include <string>
#include <vector>

#include "models/profiles/profile.h"
#include "sim/cta.h"
#include "sim/run_result.h"
#include "traces/format/schema.h"

namespace sm100::sim {

/// A warp that has to do with the hang, for a trace to point at.
struct HangMark {
  traces::FindingMark::What what;
  int cta = -1, warp = -1;
  models::Cycles time = 0;  ///< since when it waits; of one at fault that does not wait, the end of the run
  int slot = -1;            ///< of the CTA that has the barrier
  uint32_t barrier = 0;     ///< offset; 0: none
  std::string line, text;   ///< as in the report
};

struct HangReport {
  std::string text;
  Finding finding;              ///< the wait that explains the others
  std::vector<HangMark> marks;  ///< none for a run that its cycle budget ended
};

/// @param ctas    CTA slots; those with blocked warps are analysed
/// @param cycle   when nothing was left to do
/// @param budget  cycle budget that ended the run although something was still to do; 0: a hang
/// @param replay  command that reproduces the run
HangReport explain_hang(const std::vector<Cta*>& ctas, models::Cycles cycle, models::Cycles budget,
                        const std::string& replay);

}  // namespace sm100::sim
