// SPDX-License-Identifier: Apache-2.0
/// Runs of the simulator whose time is compared with a measurement: a scenario with the values of one measured row,
/// and what of the run's trace is the figure that was measured.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/run_result.h"
#include "traces/format/schema.h"

namespace sm100::sim {

/// A run that has ended.
struct ReplayedRun {
  const host::Scenario& scenario;
  const RunResult& result;
  const traces::Trace& trace;

  /// Spans of one kind of one warp of a CTA, in their order.
  std::vector<traces::Span> spans(int cta, int warp, traces::SpanKind kind) const;
  int ctas() const;
};

struct RowReplay {
  std::filesystem::path scenario;
  std::vector<std::string> set;  ///< as --set has them
  bool record = true;            ///< a trace; `figure` sees an empty one otherwise
  /// The figure, in the unit of the measurement.
  std::function<std::vector<double>(const ReplayedRun&)> figure;
};

/// What a replay gave; `error` instead of figures when the scenario is refused or does not pass.
struct RowFigures {
  std::vector<double> figures;
  std::string error;
};

/// Runs all, `jobs` at a time, each in a process of its own.
/// @param progress  called with the fraction that is done
std::vector<RowFigures> run_replays(const std::vector<RowReplay>& replays, int jobs,
                                    const std::function<void(double)>& progress);

}  // namespace sm100::sim
