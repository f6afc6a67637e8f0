// SPDX-License-Identifier: Apache-2.0
// One tile on one SM with a long K: docs/measurements.md, law 4.3.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/matmul/config.h"
#include "sim/accuracy/csv.h"
#include "sim/accuracy/data_set.h"

namespace sm100::sim {
namespace {

/// Ring stages of a measured row that fit beside the strips of our epilogue, which the measured kernel does not
/// have. STAGES = 0 filled shared memory.
int stages_of(int wanted, int m, int n, int k, int element_bytes) {
  const int k_tile_bytes = std::min(128, k * element_bytes), groups = k * element_bytes / k_tile_bytes;
  MatmulConfig c{.dtype = element_bytes == 2 ? DataType::bf16 : DataType::e4m3,
                 .mma_m = m,
                 .mma_n = n,
                 .mma_k = 32 / element_bytes,
                 .k_group_size = groups,
                 .accum_stages = 1,
                 .clc_stages = 0,
                 .swizzle = k_tile_bytes == 128  ? Swizzle::b128
                            : k_tile_bytes == 64 ? Swizzle::b64
                                                 : Swizzle::b32};
  const int most = max_stages(c) / groups;
  return wanted == 0 ? most : std::min(wanted, most);
}

/// Of each measured launch, what no unit of the model accounts for; fitted together with the scenario's clock.
constexpr double kLaunchUs = 3.0;

/// From the first instruction of one launch to that of the next: the launches came back to back, and what the one
/// before has left in L2 is there.
std::vector<double> launch_period(const ReplayedRun& run) {
  const LaunchTime& launch = run.result.launches.back();
  return {double(launch.end - launch.begin) / run.result.sm_clock_ghz * 1e-3 +
          run.scenario.device.launch.grid_gap_ns * 1e-3 + kLaunchUs};
}

}  // namespace

std::vector<DataSet> replay_mainloop(const AccuracyInputs& inputs) {
  DataSet set{
      .id = "mainloop",
      .title = "GEMM main loop on one SM",
      .unit = "us",
      .source = "`gemm_mainloop_cal.csv`, `scenarios/accuracy/mainloop.toml`",
      .replays =
          "the kernel that computes one tile, M = 64 or 128, N = 16 to 256, K = 131,072, by its number of stages; "
          "time "
          "from launch to launch; a ring is at most as deep as our epilogue's strips leave room for",
      .fitted =
          "`memory.l2_hit_ns`, `tma.request_bytes_per_cycle`, `memory.dram_*` (with the TMA stream), "
          "`umma.ss_floor_*`, "
          "`umma.smem_fill_conflict`, issue cycles of waits, the scenario's `sm_clock_ghz` and 3 us of each "
          "launch; "
          "what L2 holds follows from the launch before",
      .x_label = "measured, us",
      .log_axes = true,
      .plot_ratio = true};
  const CsvTable table(inputs.measured / "b200" / "gemm_mainloop_cal.csv");
  std::vector<RowReplay> replays;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int m = table.integer(row, "TILE_M"), n = table.integer(row, "TILE_N"), k = table.integer(row, "TILE_K"),
              size = table.text(row, "dtype") == "BF16" ? 2 : 1;
    const int stages = stages_of(table.integer(row, "STAGES"), m, n, k, size);
    const double measured = table.number(row, "time_ms") * 1e3;
    set.points.push_back({fmt::format("{} {} x {} x {}, {} stages", table.text(row, "dtype"), m, n, k, stages),
                          fmt::format("{}, TILE_K {}", size == 2 ? "bf16" : "e4m3", k), measured, 0, measured});
    RowReplay e;
    e.scenario = inputs.scenarios / "accuracy" / "mainloop.toml";
    const int span = std::min(128, k * size), groups = k * size / span;
    e.set = {fmt::format("problem.m={}", m),
             fmt::format("problem.n={}", n),
             fmt::format("problem.k={}", table.integer(row, "K")),
             fmt::format("config.mma=[{}, {}, {}]", m, n, 32 / size),
             fmt::format("config.dtype=\"{}\"", size == 2 ? "bf16" : "e4m3"),
             fmt::format("config.swizzle={}", span),
             fmt::format("config.k_group_size={}", groups),
             fmt::format("config.stages={}", stages * groups)};
    e.record = false;
    e.figure = launch_period;
    replays.push_back(std::move(e));
  }
  const auto figures = run_replays(replays, inputs.jobs, [&](double part) { inputs.progress(part, set.title); });
  predict(set, figures);
  return {std::move(set)};
}

}  // namespace sm100::sim
