// SPDX-License-Identifier: Apache-2.0
/// What a sweep found: as text, as CSV and as a page.
#pragma once

#include <string>
#include <vector>

#include "sim/cli/json_output.h"

namespace sm100::sim::cli {

struct SweptRuns {
  std::vector<Json> lines;        ///< of one build, in the sweep's order
  std::vector<std::string> keys;  ///< that were swept: those that have more than one value
  std::string build;
  size_t of_other_builds = 0;  ///< lines that were left out
};

/// @param lines  of a folder, at least one.  Of several builds the one with the most lines is taken.
SweptRuns swept_runs(const std::vector<Json>& lines);

std::string sweep_text(const SweptRuns& swept);
std::string sweep_csv(const SweptRuns& swept);
/// One file that loads nothing.
std::string sweep_page(const SweptRuns& swept);

}  // namespace sm100::sim::cli
