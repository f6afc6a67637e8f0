// SPDX-License-Identifier: Apache-2.0
// The tensor core alone: docs/measurements.md, law 4.1.
#include <fmt/format.h>

#include <algorithm>

#include "sim/accuracy/csv.h"
#include "sim/accuracy/data_set.h"

namespace sm100::sim {
namespace {

/// config.operands of a measured format; F4 and MXF4 were run as kind::f8f6f4 and kind::mxf8f6f4
/// (docs/measurements.md).
std::string operands_of(const std::string& format) {
  if (format == "BF16") return "bf16";
  if (format == "E4M3") return "e4m3";
  if (format == "F4") return "e2m1";
  if (format == "S8") return "s8";
  if (format == "MXF8") return "mx_e4m3";
  if (format == "MXF4") return "mx_e2m1";
  throw host::InputError(fmt::format("format \"{}\" of a measured row: none that tcgen05.mma has", format));
}

struct Configuration {
  std::string format, layout;
  int cta_group, m, n;
  std::string name() const { return fmt::format("{} {} {} SM {} x {}", format, layout, cta_group, m, n); }
  std::string group() const { return fmt::format("{}, {} SM", layout, cta_group); }
};

Configuration configuration_of(const CsvTable& table, size_t row) {
  return {table.text(row, "Format"), table.text(row, "ABLayout"), table.integer(row, "CTAGroup"),
          table.integer(row, "M"), table.integer(row, "N")};
}

RowReplay batches_of(const AccuracyInputs& inputs, const Configuration& c, int depth, int batches) {
  RowReplay e;
  e.scenario = inputs.scenarios / "accuracy" / "umma_batches.toml";
  e.set = {fmt::format("config.operands=\"{}\"", operands_of(c.format)),
           fmt::format("config.m={}", c.m),
           fmt::format("config.n={}", c.n),
           fmt::format("config.cta_group={}", c.cta_group),
           fmt::format("config.a_in_tmem={}", c.layout == "TS"),
           fmt::format("config.depth={}", depth),
           fmt::format("config.batches={}", batches)};
  return e;
}

/// Clock to clock around one batch: the scalar instructions before it belong to the loop.
std::vector<double> completion_latency(const ReplayedRun& run) {
  std::vector<double> cycles;
  for (const traces::Span& batch : run.spans(0, 0, traces::SpanKind::tile))
    cycles.push_back(double(batch.end - batch.begin) - run.scenario.device.issue.control);
  std::sort(cycles.begin(), cycles.end());
  return {cycles[cycles.size() / 2]};
}

/// Cycles from batch to batch.
std::vector<double> period(const ReplayedRun& run) {
  const auto batches = run.spans(0, 0, traces::SpanKind::tile);
  return {double(batches.back().end - batches.front().end) / double(batches.size() - 1)};
}

DataSet replay_latency(const AccuracyInputs& inputs) {
  DataSet set{.id = "umma-latency",
              .title = "UMMA latency",
              .unit = "cycles",
              .source = "`umma_latency.csv`, `scenarios/accuracy/umma_batches.toml`",
              .replays = "one `tcgen05.mma`, one `tcgen05.commit`, all warps wait; clock to clock, median of 10",
              .fitted = "`umma.latency_cycles` and the other latencies of `[umma]`, on these rows",
              .x_label = "N",
              .absolute = true};
  const CsvTable table(inputs.measured / "b200" / "umma_latency.csv");
  std::vector<RowReplay> replays;
  for (size_t row = 0; row < table.rows(); ++row) {
    const Configuration c = configuration_of(table, row);
    set.points.push_back({c.name(), c.group(), table.number(row, "MedianCycles"), 0, double(c.n)});
    replays.push_back(batches_of(inputs, c, 1, 10));
    replays.back().figure = completion_latency;
  }
  predict(set, run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, "UMMA latency"); }));
  return set;
}

/// The measured slope over the depth, against that between two depths of the model.
DataSet replay_interval(const AccuracyInputs& inputs) {
  constexpr int kShort = 16, kLong = 256;
  DataSet set{.id = "umma-interval",
              .title = "UMMA initiation interval",
              .unit = "cycles per MMA",
              .source = "`umma_batch_fit.csv`, `scenarios/accuracy/umma_batches.toml`",
              .replays = fmt::format("batches of {} and of {} MMAs; the slope between them", kShort, kLong),
              .fitted = "the rates of `[umma]` and the additions for narrow pairs, on these rows",
              .x_label = "N"};
  const CsvTable table(inputs.measured / "b200" / "umma_batch_fit.csv");
  std::vector<RowReplay> replays;
  for (size_t row = 0; row < table.rows(); ++row) {
    const Configuration c = configuration_of(table, row);
    set.points.push_back({c.name(), c.group(), table.number(row, "a (II)"), 0, double(c.n)});
    for (const int depth : {kShort, kLong}) {
      replays.push_back(batches_of(inputs, c, depth, 4));
      replays.back().figure = period;
    }
  }
  const auto figures =
      run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, "UMMA initiation interval"); });
  for (size_t i = 0; i < set.points.size(); ++i) {
    const RowFigures &few = figures[2 * i], &many = figures[2 * i + 1];
    set.points[i].error = few.error.empty() ? many.error : few.error;
    if (set.points[i].error.empty())
      set.points[i].predicted = (many.figures[0] - few.figures[0]) / (kLong - kShort);
  }
  return set;
}

DataSet replay_batches(const AccuracyInputs& inputs, const char* file, DataSet set) {
  const CsvTable table(inputs.measured / "b200" / file);
  std::vector<RowReplay> replays;
  for (size_t row = 0; row < table.rows(); ++row) {
    const Configuration c = configuration_of(table, row);
    const int depth = table.integer(row, "PipelineDepth");
    constexpr double kBatches = 1000;
    set.points.push_back({fmt::format("{}, {} MMAs", c.name(), depth), c.group(),
                          table.number(row, "Cycles") / kBatches, 0, double(depth)});
    replays.push_back(batches_of(inputs, c, depth, 4));
    replays.back().figure = period;
  }
  predict(set, run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, set.title); }));
  return set;
}

}  // namespace

std::vector<DataSet> replay_umma(const AccuracyInputs& inputs) {
  const DataSet batches{.unit = "cycles per batch",
                        .replays = "batches of D MMAs, one commit and one wait each; from batch to batch",
                        .fitted = "`issue.control`, the 12 cycles from one batch to the next",
                        .x_label = "MMAs of a batch",
                        .log_axes = true};
  DataSet deep = batches, small = batches;
  deep.id = "umma-batches", deep.title = "Batches of 16 to 1,024 MMAs";
  deep.source = "`umma_throughput_depth_sweep.csv`, `scenarios/accuracy/umma_batches.toml`";
  small.id = "umma-small-batches", small.title = "Batches of 1 to 10 MMAs with A in tensor memory";
  small.source = "`umma_throughput_ts_depth1to10.csv`, `scenarios/accuracy/umma_batches.toml`";
  return {replay_latency(inputs), replay_interval(inputs),
          replay_batches(inputs, "umma_throughput_depth_sweep.csv", std::move(deep)),
          replay_batches(inputs, "umma_throughput_ts_depth1to10.csv", std::move(small))};
}

}  // namespace sm100::sim
