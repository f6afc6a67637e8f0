// SPDX-License-Identifier: Apache-2.0
// Mechanisms of an H200's memory, one at a time: docs/accuracy-h200-mechanisms.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/micro/tma_tiles.h"
#include "sim/accuracy/csv.h"
#include "sim/accuracy/data_set.h"

namespace sm100::sim {
namespace {

/// Medians of a column over the repetitions, by the words in some other columns, joined with blanks.
std::map<std::string, double> medians(const CsvTable& table, const std::vector<std::string>& keys,
                                      const std::string& value) {
  std::map<std::string, std::vector<double>> all;
  for (size_t row = 0; row < table.rows(); ++row) {
    std::string key;
    for (const std::string& k : keys) key += (key.empty() ? "" : " ") + table.text(row, k);
    if (!table.text(row, value).empty()) all[key].push_back(table.number(row, value));
  }
  std::map<std::string, double> of;
  for (const auto& [key, values] : all) of[key] = median(values);
  return of;
}

double bytes_of_tile(const ReplayedRun& run) {
  return double(tile_bytes(run.scenario.problem_as<sm100::TmaTilesConfig>()));
}

/// Whether the track is that of the CTA whose boxes are observed.
bool is_observer(const ReplayedRun& run, const traces::Track& track) {
  return run.scenario.problem_as<sm100::TmaTilesConfig>().observer_rows > 0 && track.cta == 0;
}

bool ends_tile(const traces::Span& span) {
  return span.kind == traces::SpanKind::wait || span.kind == traces::SpanKind::store_wait;
}

/// Terabytes per second that all rings move once they turn steadily: each one's own rate, added.
std::vector<double> sum_of_rates(const ReplayedRun& run) {
  std::map<traces::TrackId, std::vector<uint64_t>> ends;
  for (const traces::Span& span : run.trace.spans)
    if (ends_tile(span) && !is_observer(run, run.trace.tracks[span.track])) ends[span.track].push_back(span.end);
  double per_cycle = 0;
  for (const auto& [track, of] : ends) {
    const size_t first = of.size() / 3, last = of.size() - 1;
    per_cycle += bytes_of_tile(run) * double(last - first) / double(of[last] - of[first]);
  }
  return {per_cycle * run.result.sm_clock_ghz * 1e-3};
}

/// Terabytes per second from the first issue to the last end.
std::vector<double> first_to_last(const ReplayedRun& run) {
  uint64_t begin = ~uint64_t{0}, end = 0, tiles = 0;
  for (const traces::Span& span : run.trace.spans) {
    if (ends_tile(span)) end = std::max(end, span.end), ++tiles;
    if (span.kind == traces::SpanKind::load_issue || span.kind == traces::SpanKind::store_issue)
      begin = std::min(begin, span.begin);
  }
  return {bytes_of_tile(run) * double(tiles) / double(end - begin) * run.result.sm_clock_ghz * 1e-3};
}

constexpr int kWarmWalks = 4, kWalks = 24;

/// Cycles of a box of 16 KiB, without the first walks: the median of the rings, for all rings of an SM together.
std::vector<double> cycles_of_a_box(const ReplayedRun& run) {
  const auto& c = run.scenario.problem_as<sm100::TmaTilesConfig>();
  std::map<traces::TrackId, std::vector<uint64_t>> ends;
  for (const traces::Span& span : run.trace.spans)
    if (ends_tile(span)) ends[span.track].push_back(span.end);
  std::vector<double> cycles;
  for (const auto& [track, of] : ends) {
    const size_t first = size_t(kWarmWalks * c.distinct);
    cycles.push_back(double(of.back() - of[first]) / double(of.size() - 1 - first) / c.warps);
  }
  return {median(std::move(cycles))};
}

/// Cycles of a box from issue to the end of its wait, where one at a time is loaded: the median.
std::vector<double> observed_latency(const ReplayedRun& run) {
  const auto issues = run.spans(0, 0, traces::SpanKind::load_issue),
             waits = run.spans(0, 0, traces::SpanKind::wait);
  std::vector<double> cycles;
  for (size_t i = 1; i < waits.size(); ++i) cycles.push_back(double(waits[i].end - issues[i].begin));
  return {median(std::move(cycles))};
}

std::vector<double> l2_bytes_per_filled(const ReplayedRun& run) {
  return {double(run.result.l2_read_bytes) / double(run.result.filled_bytes)};
}

/// A table of measured medians, and how each is simulated.
struct Builder {
  const AccuracyInputs& inputs;
  DataSet set;
  std::vector<RowReplay> replays{};

  void add(std::string name, const std::string& group, double measured, double x, std::vector<std::string> values,
           std::function<std::vector<double>(const ReplayedRun&)> figure) {
    set.points.push_back({std::move(name), group, measured, 0, x});
    replays.push_back(
        {inputs.scenarios / "accuracy" / "h200_memory.toml", std::move(values), true, std::move(figure)});
  }
  DataSet done() {
    const auto figures = run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, set.title); });
    predict(set, figures);
    return std::move(set);
  }
};

constexpr double kMibPerRound = 132 * 4 * 16.0 / 1024;  ///< a box of each warp

DataSet capacity(const AccuracyInputs& inputs) {
  Builder b{
      inputs,
      {.id = "h200-capacity",
       .title = "H200: reads by footprint",
       .unit = "cycles of an SM for 16 KiB",
       .source = "`1_l2_capacity.csv`, `scenarios/accuracy/h200_memory.toml`",
       .replays =
           "132 SMs walk boxes of their own 28 times, in one order or in a new one each time; the median ring "
           "of a warp in the last 24 walks",
       .fitted =
           "`memory.dram_tb_per_s`, on the largest footprints; `memory.l2_early_share`, on HBM bytes by footprint "
           "(`1_l2_counters.csv`)",
       .x_label = "MiB"}};
  const auto measured = medians(CsvTable(inputs.measured / "h200" / "1_l2_capacity.csv"),
                                {"order", "footprint_mib"}, "clk_per_box_per_sm");
  for (const bool shuffled : {false, true})
    for (const int distinct : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14}) {
      const double mib = distinct * kMibPerRound;
      const auto at = measured.find(fmt::format("{} {:.4f}", shuffled ? "own_random" : "own_seq", mib));
      if (at == measured.end()) continue;
      b.add(fmt::format("{:.1f} MiB, {}", mib, shuffled ? "a new order every pass" : "the same order"),
            shuffled ? "new order" : "same order", at->second, mib,
            {fmt::format("config.distinct={}", distinct),
             fmt::format("config.tiles={}", (kWarmWalks + kWalks) * distinct),
             fmt::format("config.shuffled={}", shuffled), "config.stages=3"},
            cycles_of_a_box);
    }
  return b.done();
}

DataSet rates(const AccuracyInputs& inputs) {
  Builder b{inputs,
            {.id = "h200-rates",
             .title = "H200: one SM, one GPC, reads and writes",
             .unit = "TB/s",
             .source = "`2_gpc_rate.csv`, `5_write_sms.csv`, `scenarios/accuracy/h200_memory.toml`",
             .replays = "some SMs of one GPC stream hits, or store the same boxes again and again",
             .fitted = "`memory.l2_gpc_tb_per_s`, `memory.l2_gpc_write_tb_per_s`, `tma.request_bytes_per_cycle`",
             .x_label = "SMs"}};
  const auto reads = medians(CsvTable(inputs.measured / "h200" / "2_gpc_rate.csv"),
                             {"data", "order", "gpc", "streaming_sms"}, "tb_per_s");
  for (const int sms : {1, 2, 4, 6, 8, 10, 12, 14, 16})
    if (const auto at = reads.find(fmt::format("l2 tpc_by_tpc 1 {}", sms)); at != reads.end())
      b.add(fmt::format("{} SMs read", sms), "reads", at->second, sms, {fmt::format("run.sms={}", sms)},
            sum_of_rates);
  const auto writes =
      medians(CsvTable(inputs.measured / "h200" / "5_write_sms.csv"), {"placement", "gpc", "sms"}, "tb_per_s");
  for (const int sms : {1, 2, 4, 6, 8, 10, 12, 14, 16})
    if (const auto at = writes.find(fmt::format("one_gpc 1 {}", sms)); at != writes.end())
      b.add(fmt::format("{} SMs write", sms), "writes", at->second, sms,
            {fmt::format("run.sms={}", sms), "config.reads=0", "config.writes=1"}, sum_of_rates);
  return b.done();
}

DataSet latency(const AccuracyInputs& inputs) {
  Builder b{
      inputs,
      {.id = "h200-latency",
       .title = "H200: latency of a box under load",
       .unit = "cycles",
       .source = "`2_latency_under_load.csv`, `scenarios/accuracy/h200_memory.toml`",
       .replays = "one SM loads a box at a time while 131 stream, out of L2 or out of HBM, at uneven intervals; "
                  "the median",
       .fitted = "`memory.l2_hit_ns` and `memory.dram_extra_ns`, on the rows without load; `memory.dram_spread`, "
                 "`memory.l2_gpc_spread` and how far short boxes wait, on all",
       .x_label = "cycles between the boxes of an SM of the stream"}};
  const CsvTable table(inputs.measured / "h200" / "2_latency_under_load.csv");
  const auto measured =
      medians(table, {"stream", "observer", "observer_rows", "who", "interval_cycles", "streaming_sms"}, "p50");
  for (const char* where : {"l2", "hbm"})
    for (const int rows : {1, 8, 128})
      for (const int interval : {-1, 0, 450, 485, 520, 570, 700, 1000, 1100, 1300, 1600, 2000, 3200, 4000}) {
        const bool idle = interval < 0;
        const auto at = measured.find(
            fmt::format("{} {} {} all {} {}", where, where, rows, std::max(0, interval), idle ? 0 : 131));
        if (at == measured.end()) continue;
        std::vector<std::string> set = {fmt::format("config.observer_rows={}", rows), "config.uneven=true",
                                        "config.tiles=96",
                                        fmt::format("config.loop_cycles={}", std::max(0, 4 * interval - 142))};
        if (*where == 'h') set.insert(set.end(), {"config.distinct=0", "run.l2=\"cold\""});
        if (idle) set.emplace_back("run.sms=1");
        b.add(idle ? fmt::format("{}, {} rows, nobody else", where, rows)
                   : fmt::format("{}, {} rows, others every {} cycles", where, rows, interval),
              fmt::format("{}, {} rows{}", where, rows, interval == 0 ? ", saturated" : ""), at->second,
              idle ? 10000 : interval, std::move(set), observed_latency);
      }
  return b.done();
}

DataSet merging(const AccuracyInputs& inputs) {
  Builder b{inputs,
            {.id = "h200-merging",
             .title = "H200: equal requests of a cluster that come together",
             .unit = "bytes out of L2 per byte filled",
             .source = "`4_coalescing_counters.csv`, `scenarios/accuracy/h200_memory.toml`",
             .replays = "the CTAs of a cluster load the same boxes, so many at once, and meet after them",
             .fitted = "`memory.merge_most`",
             .x_label = "KiB in flight per SM"}};
  const CsvTable table(inputs.measured / "h200" / "4_coalescing_counters.csv");
  const auto measured =
      medians(table, {"placement", "group_size", "same_data", "burst", "depth"}, "l2_bytes_per_filled");
  for (const int cluster : {2, 4, 8})
    for (const int depth : {1, 2, 3, 4, 6, 8, 12})
      if (const auto at = measured.find(fmt::format("cluster {} 1 1 {}", cluster, depth)); at != measured.end())
        b.add(fmt::format("clusters of {}, {} KiB", cluster, 16 * depth), fmt::format("clusters of {}", cluster),
              at->second, 16 * depth,
              {fmt::format("config.cluster={}", cluster), fmt::format("config.sharers={}", cluster),
               "config.warps=1", fmt::format("config.stages={}", depth), "config.sync=true",
               fmt::format("config.tiles={}", 12 * depth), fmt::format("config.distinct={}", 12 * depth)},
              l2_bytes_per_filled);
  return b.done();
}

DataSet mixes(const AccuracyInputs& inputs) {
  Builder b{
      inputs,
      {.id = "h200-mixes",
       .title = "H200: reads and writes together",
       .unit = "TB/s",
       .source = "`5_writes.csv`, `scenarios/accuracy/h200_memory.toml`",
       .replays =
           "132 SMs load and store 128 boxes or more each, by turns; bytes from the first issue to the last end",
       .fitted = "`memory.l2_write_tb_per_s`, `memory.l2_write_share_of_reads`, `memory.dram_write_cost`, "
                 "`memory.l2_dirty_mib`",
       .x_label = "MiB, read and written"}};
  const CsvTable table(inputs.measured / "h200" / "5_writes.csv");
  std::map<std::pair<int, int>, std::map<double, std::vector<double>>> measured;
  for (size_t row = 0; row < table.rows(); ++row)
    measured[{table.integer(row, "reads"), table.integer(row, "writes")}]
            [table.number(row, "read_footprint_mib") + table.number(row, "write_footprint_mib")]
                .push_back(table.number(row, "tb_per_s"));
  constexpr std::pair<int, int> kRatios[] = {{0, 1}, {1, 3}, {1, 2}, {1, 1}, {2, 1}, {3, 1}, {1, 0}};
  for (const auto& [reads, writes] : kRatios) {
    const int period = reads + writes;
    for (const int wanted : {16, 33, 66, 132}) {
      const int distinct = std::max(period, int(std::lround(wanted / kMibPerRound / period)) * period);
      const double mib = distinct * kMibPerRound;
      const auto& by_size = measured[{reads, writes}];
      const auto nearest = std::min_element(by_size.begin(), by_size.end(), [&](const auto& l, const auto& r) {
        return std::abs(l.first - mib) < std::abs(r.first - mib);
      });
      if (nearest == by_size.end() || std::abs(nearest->first - mib) > 0.1 * mib) continue;
      b.add(fmt::format("{} : {}, {:.0f} MiB", reads, writes, mib), fmt::format("{} : {}", reads, writes),
            median(nearest->second), mib,
            {fmt::format("config.distinct={}", distinct), fmt::format("config.reads={}", reads),
             fmt::format("config.writes={}", writes), fmt::format("config.tiles={}", std::max(32, 3 * distinct))},
            first_to_last);
    }
  }
  return b.done();
}

DataSet short_rows(const AccuracyInputs& inputs) {
  Builder b{inputs,
            {.id = "h200-short-rows",
             .title = "H200: boxes with short rows",
             .unit = "cycles per box of 128 rows",
             .source = "`6_short_rows.csv`, `scenarios/accuracy/h200_memory.toml`",
             .replays = "one SM, or all, load hits; rows of 32, 64 and 128 bytes, 1 to 8 boxes in flight",
             .fitted = "`tma.load_rows_per_cycle`, `tma.request_bytes_per_cycle`",
             .x_label = "boxes in flight"}};
  const auto measured = medians(CsvTable(inputs.measured / "h200" / "6_short_rows.csv"),
                                {"row_bytes", "rows", "layout", "sms", "depth"}, "cycles_per_box");
  const auto cycles_per_box = [](const ReplayedRun& run) {
    const double rate = sum_of_rates(run)[0] * 1e3 / run.result.sm_clock_ghz;
    return std::vector<double>{bytes_of_tile(run) * double(run.ctas()) / rate};
  };
  for (const int sms : {1, 132})
    for (const int bytes : {32, 64, 128})
      for (const int depth : {1, 2, 4, 8})
        if (const auto at = measured.find(fmt::format("{} 128 dense {} {}", bytes, sms, depth));
            at != measured.end())
          b.add(fmt::format("{} SMs, rows of {} B, {} in flight", sms, bytes, depth), fmt::format("{} SMs", sms),
                at->second, depth,
                {fmt::format("run.sms={}", sms), fmt::format("config.box_width={}", bytes / 4),
                 fmt::format("config.warps={}", std::min(depth, 4)),
                 fmt::format("config.stages={}", std::max(1, depth / 4)), "config.tiles=24"},
                cycles_per_box);
  return b.done();
}

DataSet fills(const AccuracyInputs& inputs) {
  Builder b{inputs,
            {.id = "h200-fill",
             .title = "H200: a box on an idle chip, by its rows",
             .unit = "cycles",
             .source = "`7_fill_rows.csv`, `scenarios/accuracy/h200_memory.toml`",
             .replays = "one SM loads a box at a time, from arming to the end of the wait; the median",
             .fitted = "`memory.l2_hit_ns`, `memory.dram_extra_ns`, `memory.dram_wait_ns`",
             .x_label = "rows"}};
  const auto measured = medians(CsvTable(inputs.measured / "h200" / "7_fill_rows.csv"), {"where", "rows"}, "p50");
  for (const bool hit : {true, false})
    for (const int rows : {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256})
      if (const auto at = measured.find(fmt::format("{} {}", hit ? "l2" : "hbm_dense", rows));
          at != measured.end()) {
        std::vector<std::string> set = {"run.sms=1",        fmt::format("config.observer_rows={}", rows),
                                        "config.warps=1",   "config.stages=1",
                                        "config.tiles=240", "config.box_height=256"};
        if (!hit) set.insert(set.end(), {"config.distinct=0", "run.l2=\"cold\""});
        b.add(fmt::format("{} rows, {}", rows, hit ? "hit" : "HBM"), hit ? "hits" : "HBM", at->second, rows,
              std::move(set), observed_latency);
      }
  return b.done();
}

/// Time from launch to launch of copies in a row.
DataSet copies(const AccuracyInputs& inputs) {
  DataSet set{.id = "h200-copies",
              .title = "H200: copies of the whole chip, one after the other",
              .unit = "us",
              .source = "`5_copies_in_a_row.csv`, `scenarios/copy/chip_hbm.toml`",
              .replays = "three launches of pipeline_copy with four slots; from the second to the third",
              .fitted = "",
              .x_label = "measured, us"};
  const auto measured = medians(CsvTable(inputs.measured / "h200" / "5_copies_in_a_row.csv"),
                                {"cluster", "slots", "read_mb", "written_mb"}, "us_per_launch");
  struct Copy {
    const char* key;
    int m, n, cluster;
  };
  std::vector<RowReplay> replays;
  for (const Copy& c : {Copy{"2 4 33.55 67.11", 4096, 4096, 2}, Copy{"1 4 33.55 33.55", 4096, 4096, 1},
                        Copy{"1 4 67.11 67.11", 8192, 4096, 1}, Copy{"2 4 8.39 16.78", 2048, 2048, 2},
                        Copy{"2 4 16.78 33.55", 4096, 2048, 2}}) {
    const auto at = measured.find(c.key);
    if (at == measured.end()) continue;
    set.points.push_back({c.key, "", at->second, 0, at->second});
    replays.push_back(
        {inputs.scenarios / "copy" / "chip_hbm.toml",
         {fmt::format("problem.m={}", c.m), fmt::format("problem.n={}", c.n), "config.stages=4",
          fmt::format("config.cluster={}", c.cluster), fmt::format("config.multicast={}", c.cluster > 1),
          "run.launches=3", "run.data=\"none\"", "run.hazards=false"},
         false,
         [](const ReplayedRun& run) {
           const auto& launches = run.result.launches;
           return std::vector<double>{double(launches[2].begin - launches[1].begin) / run.result.sm_clock_ghz *
                                      1e-3};
         }});
  }
  const auto figures = run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, set.title); });
  predict(set, figures);
  return set;
}

}  // namespace

std::vector<DataSet> replay_h200_memory(const AccuracyInputs& inputs) {
  return {capacity(inputs), rates(inputs),      latency(inputs), merging(inputs),
          mixes(inputs),    short_rows(inputs), fills(inputs),   copies(inputs)};
}

}  // namespace sm100::sim
