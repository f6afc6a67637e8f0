// SPDX-License-Identifier: Apache-2.0
// Tensor loads out of HBM: docs/measurements.md, law 4.2.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "kernels/micro/tma_tiles.h"
#include "sim/accuracy/csv.h"
#include "sim/accuracy/data_set.h"

namespace sm100::sim {
namespace {

/// Bytes per second into the shared memory of all SMs, once the rings turn steadily; CTAs that found no SM at first
/// ran when others had ended, and each wave takes its own time.
std::vector<double> fill_rate(const ReplayedRun& run) {
  const auto& c = run.scenario.problem_as<sm100::TmaTilesConfig>();
  const double bytes = 4.0 * c.box_width * c.box_height;
  std::map<int, std::set<int>> ctas_of_sm;
  for (const traces::Track& track : run.trace.tracks)
    if (track.kind == traces::TrackKind::role) ctas_of_sm[track.sm].insert(track.cta);
  std::map<traces::TrackId, std::vector<uint64_t>> arrivals;  // of each warp
  for (const traces::Span& span : run.trace.spans)
    if (span.kind == traces::SpanKind::wait) arrivals[span.track].push_back(span.end);
  struct Wave {
    double per_cycle = 0, bytes = 0;
  };
  std::map<size_t, Wave> waves;
  for (const auto& [track, ends] : arrivals) {
    const traces::Track& t = run.trace.tracks[track];
    const std::set<int>& ctas = ctas_of_sm[t.sm];
    const size_t first = ends.size() / 4, last = ends.size() - 1;
    Wave& wave = waves[size_t(std::distance(ctas.begin(), ctas.find(t.cta)))];
    wave.per_cycle += bytes * double(last - first) / double(ends[last] - ends[first]);
    wave.bytes += bytes * double(ends.size());
  }
  double all = 0, cycles = 0;
  for (const auto& [number, wave] : waves) all += wave.bytes, cycles += wave.bytes / wave.per_cycle;
  const double l2 = double(run.result.l2_read_bytes) / double(run.result.filled_bytes);
  return {all / cycles * run.result.sm_clock_ghz * 1e9, l2};
}

/// Clock to clock around arming, issue and wait of each CTA's only tile: the median.
std::vector<double> first_tile(const ReplayedRun& run) {
  std::vector<double> cycles;
  for (int cta = 0; cta < run.ctas(); ++cta)
    cycles.push_back(double(run.spans(cta, 0, traces::SpanKind::wait).front().end -
                            run.spans(cta, 0, traces::SpanKind::load_issue).front().begin));
  std::sort(cycles.begin(), cycles.end());
  return {cycles[cycles.size() / 2]};
}

/// Enough tiles for the mean, few enough for the time.
int tiles_of(int stages, double tile_kib) {
  return std::max(8 * stages, int(std::clamp(1024 / tile_kib, 24.0, 120.0)));
}

DataSet replay_stream(const AccuracyInputs& inputs) {
  DataSet set{.id = "tma-stream",
              .title = "TMA stream out of HBM",
              .unit = "TB/s",
              .source = "`tma2d_throughput_cal.csv`, `scenarios/accuracy/tma_stream.toml`",
              .replays = "148 CTAs with a ring of one or four slots, each loaded again when its tile has arrived",
              .fitted =
                  "`memory.dram_*` of the profile and the scenario's `loop_cycles`, on these rows and those of the "
                  "clusters",
              .x_label = "bytes in flight per SM",
              .log_axes = true};
  const CsvTable table(inputs.measured / "b200" / "tma2d_throughput_cal.csv");
  std::vector<RowReplay> replays;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int stages = table.integer(row, "NumStages"), height = table.integer(row, "SmemHeight");
    const double kib = table.number(row, "BytesInFlightPerSM") / 1024;
    set.points.push_back({fmt::format("{} x {} rows of 512 B", stages, height), fmt::format("{} in flight", stages),
                          table.number(row, "DRAMBandwidthBps") * 1e-12, 0, kib * 1024});
    RowReplay e{
        inputs.scenarios / "accuracy" / "tma_stream.toml",
        {fmt::format("config.box_height={}", height), fmt::format("config.stages={}", stages),
         fmt::format("config.tiles={}", tiles_of(stages, kib / stages)), fmt::format("run.sm_clock_ghz={}", 1.966)},
        true,
        fill_rate};
    replays.push_back(std::move(e));
  }
  const auto figures = run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, set.title); });
  predict(set, figures, 1e-12);
  return set;
}

DataSet replay_cold(const AccuracyInputs& inputs) {
  DataSet set{
      .id = "tma-cold",
      .title = "The first tile of 148 SMs at once, nothing cached",
      .unit = "cycles",
      .source = "`tma2d_latency.csv`, `scenarios/accuracy/tma_cold.toml`",
      .replays =
          "one tile per CTA, L2 full of lines that must be written back, no translation at hand; median over the "
          "CTAs.  The row of 512 bytes (1,993 cycles, more than 2 KiB take) is left out",
      .fitted = "`memory.translation_ns`, on the row of 1 KiB",
      .x_label = "bytes of the tile",
      .log_axes = true};
  const CsvTable table(inputs.measured / "b200" / "tma2d_latency.csv");
  std::vector<RowReplay> replays;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int height = table.integer(row, "SmemHeight");
    if (height == 1) continue;
    set.points.push_back({fmt::format("{} KiB", height / 2), "", table.number(row, "LatencyCyclesMedian"), 0,
                          table.number(row, "TileBytes")});
    replays.push_back({inputs.scenarios / "accuracy" / "tma_cold.toml",
                       {fmt::format("config.box_height={}", height)},
                       true,
                       first_tile});
  }
  const auto figures = run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, "cold tiles"); });
  predict(set, figures);
  return set;
}

}  // namespace

std::vector<DataSet> replay_tma(const AccuracyInputs& inputs) {
  return {replay_stream(inputs), replay_cold(inputs)};
}

std::vector<DataSet> replay_multicast(const AccuracyInputs& inputs) {
  DataSet time{.id = "multicast",
               .title = "Tiles shared in a cluster: time",
               .unit = "TB/s into shared memory",
               .source = "`tma2d_multicast_cal.csv`, `scenarios/accuracy/tma_multicast.toml`",
               .replays =
                   "4 warps load a tile each, wait and meet the cluster; alone, multicast, by loads of the same "
                   "addresses in "
                   "the cluster and beyond it",
               .fitted =
                   "the scenario's `loop_cycles`, 640 for each tile that our instructions do not explain; "
                   "`memory.dram_interleave_bytes` and `memory.dram_wait_ns` "
                   "together with the "
                   "stream",
               .x_label = "KiB in flight per SM"};
  DataSet l2{.id = "multicast-l2",
             .title = "Tiles shared in a cluster: bytes out of L2",
             .unit = "bytes out of L2 per byte filled",
             .source = time.source,
             .replays = "the same runs",
             .fitted = "",
             .x_label = time.x_label};
  const CsvTable table(inputs.measured / "b200" / "tma2d_multicast_cal.csv");
  // Several rows have the same configuration: two runs of the benchmark.
  using Key = std::tuple<int, int, int, int, int>;
  std::map<Key, size_t> known;
  std::vector<RowReplay> replays;
  std::vector<size_t> replay_of;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int mode = table.integer(row, "mode"), cluster = table.integer(row, "cluster_size"),
              group = table.integer(row, "sharing_group"), width = table.integer(row, "smem_width"),
              height = table.integer(row, "smem_height");
    const double kib = 4.0 * table.number(row, "tile_bytes") / 1024;
    const char* kModes[] = {"implicit", "explicit", "not shared", "implicit, outside clusters"};
    if (mode < 0 || mode > 3) throw host::InputError(fmt::format("tma2d_multicast_cal.csv: mode {}", mode));
    const std::string group_name = cluster == 1 && group == 1 ? "alone" : kModes[mode];
    const std::string name =
        fmt::format("{}, cluster {}, 4 x {} rows of {} B", group_name, cluster, height, 4 * width);
    time.points.push_back(
        {name, group_name, table.number(row, "tma_ld_bytes") / table.number(row, "gpu_time_ns") * 1e-3, 0, kib});
    l2.points.push_back({name, group_name,
                         table.number(row, "lts_sectors_tex_read") * 32 / table.number(row, "tma_ld_bytes"), 0,
                         kib});
    const auto [at, is_new] = known.try_emplace({mode, cluster, group, width, height}, replays.size());
    replay_of.push_back(at->second);
    if (!is_new) continue;
    const int sharers = mode == 2 ? 1 : mode == 3 ? group : cluster;
    replays.push_back({inputs.scenarios / "accuracy" / "tma_multicast.toml",
                       {fmt::format("config.box_width={}", width), fmt::format("config.box_height={}", height),
                        fmt::format("config.cluster={}", cluster), fmt::format("config.sharers={}", sharers),
                        fmt::format("config.multicast={}", mode == 1 && cluster > 1)},
                       true,
                       fill_rate});
  }
  const auto figures = run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, "multicast"); });
  for (size_t i = 0; i < time.points.size(); ++i) {
    const RowFigures& replayed = figures[replay_of[i]];
    time.points[i].error = l2.points[i].error = replayed.error;
    if (!replayed.error.empty()) continue;
    time.points[i].predicted = replayed.figures[0] * 1e-12;
    l2.points[i].predicted = replayed.figures[1];
  }
  return {std::move(time), std::move(l2)};
}

}  // namespace sm100::sim
