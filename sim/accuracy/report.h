// SPDX-License-Identifier: Apache-2.0
/// What `sm100sim accuracy` writes: a page of tables, one for each data set, and plots of measured against
/// simulated values.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/accuracy/data_set.h"

namespace sm100::sim {

/// Of the errors of some points, without their signs.
struct ErrorSummary {
  size_t points = 0, failed = 0;
  double mean = 0, median = 0, p90 = 0, max = 0;
};
ErrorSummary summary_of(const DataSet& set, const std::string& group = "");

/// "mean 0.09 %, median 0.02 %, p90 0.3 %, max 2.2 % of 264 rows"
std::string summary_text(const DataSet& set);

/// The section of a data set in Markdown, with its groups and its worst rows.
/// @param plot  path of its plot, relative to the page; empty: there is none
std::string section_of(const DataSet& set, const std::string& plot);

/// Draws measured and simulated values of each data set with gnuplot, ID.svg in `folder`.  Returns false where
/// there is no gnuplot.
bool draw_plots(const std::vector<DataSet>& sets, const std::filesystem::path& folder);

}  // namespace sm100::sim
