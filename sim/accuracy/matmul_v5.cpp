// SPDX-License-Identifier: Apache-2.0
// A whole kernel on the whole chip: the published timeline of gau-nernst's matmul_v5, docs/measurements.md, law 5.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/accuracy/csv.h"
#include "sim/accuracy/data_set.h"
#include "traces/analysis/cta_life.h"

namespace sm100::sim {
namespace {

struct MeasuredInterval {
  const char* name;
  const char* of_trace;                  ///< its name in traces/analysis/cta_life.h
  const char *begin, *end;               ///< columns of the timeline; "" is the CTA's start
  bool leader_only = false;              ///< the pair's first CTA has it
  std::vector<double> first{}, later{};  ///< of the CTAs of wave 0, and of the others
};

/// Intervals that the derived table of CTAs has, in nanoseconds.
std::vector<MeasuredInterval> measured_intervals() {
  return {{"setup", "setup", "", "setup_end"},
          {"start to first copy", "start to first copy", "", "first_tma_issue"},
          {"first copy to data seen", "first copy to data seen", "first_tma_issue", "first_data_seen", true},
          {"first MMA to its slot free", "first MMA to slot free", "first_mma_issue", "first_mma_done", true},
          {"epilogue", "epilogue", "mainloop_done", "epilogue_end_max"},
          {"CTA slot", "CTA", "", "epilogue_end_max"}};
}

/// From median to median of 44 k blocks, in nanoseconds.
double k_block_period(const CsvTable& per_k, const std::string& group) {
  constexpr int kFrom = 16, kTo = 60;
  std::map<int, double> at;
  for (size_t row = 0; row < per_k.rows(); ++row)
    if (per_k.text(row, "group") == group) at[per_k.integer(row, "k")] = per_k.number(row, "wait_mma_end");
  if (at.count(kFrom) + at.count(kTo) < 2)
    throw host::InputError(
        fmt::format("b200_trace_v5_per_k_median.csv: no k = {} and {} of {}", kFrom, kTo, group));
  return (at[kTo] - at[kFrom]) / (kTo - kFrom);
}

/// Figures of the simulated trace, in the order of the points; -1 where it has none.
RowReplay simulated(const std::filesystem::path& scenario, const std::vector<std::string>& names) {
  RowReplay e{scenario, {}, true, {}};
  e.figure = [names](const ReplayedRun& run) {
    const auto all = traces::cta_intervals(run.trace);
    std::vector<double> figures;
    for (const std::string& name : names)
      for (const bool later : {false, true}) {
        const auto interval = std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.what == name; });
        const double ns =
            interval == all.end() ? -1 : (later ? interval->later_waves : interval->first_wave).median;
        figures.push_back(ns);
      }
    uint64_t begin = UINT64_MAX, end = 0;
    for (const traces::Span& span : run.trace.spans)
      if (run.trace.tracks[span.track].kind == traces::TrackKind::role)
        begin = std::min(begin, span.begin), end = std::max(end, span.end);
    figures.push_back(double(end - begin) / run.result.sm_clock_ghz);
    return figures;
  };
  return e;
}

}  // namespace

std::vector<DataSet> replay_matmul_v5(const AccuracyInputs& inputs) {
  DataSet set{
      .id = "matmul-v5",
      .title = "matmul_v5: 4096^3 bf16 on 148 SMs",
      .unit = "ns",
      .source =
          "`b200_trace_v5_cta_timeline.csv` and `b200_trace_v5_per_k_median.csv`, `scenarios/direct/v5_4096.toml`",
      .replays =
          "the same kernel with the cost of its profiler; medians over CTAs, those that are the first on their SM "
          "apart",
      .fitted =
          "`launch.cta_gap_ns`, `tmem.alloc_cycles` (setup), `global_store.line_cycles` (epilogue), and the "
          "scenario's "
          "clock (the k-block period) and profiler cost; the times to data, the slot and the span follow",
      .x_label = "measured, ns",
      .log_axes = true,
      .plot_ratio = true};
  const CsvTable ctas(inputs.measured / "b200" / "b200_trace_v5_cta_timeline.csv"),
      per_k(inputs.measured / "b200" / "b200_trace_v5_per_k_median.csv");
  std::vector<MeasuredInterval> all = measured_intervals();
  double span_begin = INFINITY, span_end = 0;
  for (size_t row = 0; row < ctas.rows(); ++row) {
    const double start = ctas.number(row, "t_start");
    span_begin = std::min(span_begin, start),
    span_end = std::max(span_end, start + ctas.number(row, "epilogue_end_max"));
    for (MeasuredInterval& interval : all) {
      if (interval.leader_only && ctas.integer(row, "rank") != 0) continue;
      const double from = *interval.begin ? ctas.number(row, interval.begin) : 0;
      (ctas.integer(row, "wave") == 0 ? interval.first : interval.later)
          .push_back(ctas.number(row, interval.end) - from);
    }
  }
  std::vector<std::string> names;
  const auto add = [&](const char* name, const char* of_trace, double first, double later) {
    names.emplace_back(of_trace);
    set.points.push_back({fmt::format("{}, first on its SM", name), "", first, 0, first});
    set.points.push_back({fmt::format("{}, later", name), "", later, 0, later});
  };
  for (const MeasuredInterval& interval : all)
    add(interval.name, interval.of_trace, median(interval.first), median(interval.later));
  add("k-block period", "k-block period", k_block_period(per_k, "wave0"), k_block_period(per_k, "waves1-3"));
  set.points.push_back({"kernel span", "", span_end - span_begin, 0, span_end - span_begin});
  const auto replayed = run_replays({simulated(inputs.scenarios / "direct" / "v5_4096.toml", names)}, inputs.jobs,
                                    [&](double part) { inputs.progress(part, "matmul_v5"); })[0];
  for (size_t i = 0; i < set.points.size(); ++i) {
    set.points[i].error = replayed.error;
    if (replayed.error.empty()) set.points[i].predicted = replayed.figures[i];
    if (replayed.error.empty() && replayed.figures[i] < 0)
      set.points[i].error = "the simulated trace has no such leg";
  }
  return {std::move(set)};
}

}  // namespace sm100::sim
