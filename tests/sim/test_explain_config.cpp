// SPDX-License-Identifier: Apache-2.0
// sm100sim explain-config as a user meets it, and runs of config = "auto".

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

/// A scenario that leaves the configuration to the heuristic.
std::string auto_scenario(int m, int n, int k, int sms) {
  return fmt::format(
      "kernel = \"matmul\"\nprofile = \"b200\"\nconfig = \"auto\"\n[problem]\nm = {}\nn = {}\nk = {}\n[run]\nsms = "
      "{}\n",
      m, n, k, sms);
}

struct Shape {
  int m, n, k, sms;
};

// One wave and several, pairs and single CTAs, every k_group_size, block swizzle, ragged edges.
const Shape kShapes[] = {{4, 520, 512, 148},   {31, 512, 384, 2},  {100, 16, 1024, 148}, {1000, 16, 320, 3},
                         {512, 512, 512, 148}, {317, 520, 200, 5}, {512, 2048, 64, 4},   {2048, 512, 128, 4},
                         {256, 256, 256, 1},   {33, 8, 8, 2}};

}  // namespace

TEST_CASE("explain-config: the whole answer for a shape", "[explain]") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "explain-config 4096 1536 4096 --dtype bf16 --profile b200");
  CHECK(ran.exit_code == 0);
  CHECK(ran.err.empty());
  CHECK(ran.out == R"(4096 x 1536 x 4096 bf16 on 148 SMs of NVIDIA B200
  cta_group      2               M = 4096 is at least 32: pairs of CTAs load each tile of B once
  mma            [256, 176, 16]  144 tiles in 2 waves of 74, fewest; 128 x 176 per CTA, smallest of 12 with as few
  cluster        [2, 1, 1]       the pair
  k_group_size   1               128 x 176 per CTA is above 64 x 96
  block_swizzle  0               2 waves, tiles are swizzled from 4
  raster_order   "along_m"       the rule for every shape
  clc_stages     2               2 waves, CTAs take over work
  accum_stages   2               2 waves, the next tile starts during the epilogue
  stages         8               as many of 27648 bytes as fit 232448 bytes of shared memory
  next best      mma 256 x 176 swapped, cta_group 2: 144 tiles in 2 waves
  next best      mma 256 x 192, cta_group 2: 128 tiles in 2 waves
  next best      mma 256 x 192 swapped, cta_group 2: 132 tiles in 2 waves
config = { cta_group = 2, mma = [256, 176, 16], cluster = [2, 1, 1], k_group_size = 1, block_swizzle = 0, raster_order = "along_m", clc_stages = 2, accum_stages = 2, stages = 8 }
)");
}

TEST_CASE("explain-config: a scenario is explained for the SMs of its run", "[explain]") {
  ScratchDirectory scratch;
  scratch.write("a.toml", auto_scenario(300, 512, 512, 8));
  const Ran own = run(scratch, "explain-config a.toml");
  CHECK(own.exit_code == 0);
  CHECK(own.out.find("300 x 512 x 512 bf16 on 8 SMs of NVIDIA B200\n") == 0);
  CHECK(own.out.find("4 tiles in 1 wave of 4, fewest; 128 x 160 per CTA") != std::string::npos);
  CHECK(own.out.find("  note ") == std::string::npos);

  const Ran table = run(scratch, "explain-config a.toml --set 'config={output=\"f32\"}' --set run.sms=148");
  CHECK(table.exit_code == 0);
  CHECK(table.out.find("on 148 SMs") != std::string::npos);
  CHECK(table.out.find("note           a.toml runs its own [config], or the defaults") != std::string::npos);
  CHECK(table.out.find("\nconfig = { output = \"f32\", cta_group = 2") != std::string::npos);
}

TEST_CASE("explain-config: tiles of groups of FP8 tokens are counted group by group", "[explain]") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, fmt::format("explain-config {}/grouped_1d2d/auto_config.toml", scenario_dir()));
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out,
             Catch::StartsWith("332 tokens in 4 groups x 512 x 512 e4m3 blockwise on 8 SMs of NVIDIA B200\n"));
  // One tile of 64 rows for 37, 5 and two for 90 tokens, four for 200; two of 256 columns.
  CHECK_THAT(ran.out, Catch::Contains("[64, 256, 32]   16 tiles of all groups in 2 waves of 8"));
  CHECK_THAT(ran.out, Catch::Contains("scheduling     \"replay\""));
}

TEST_CASE("explain-config: JSON says the same, to a file or instead of the text", "[explain]") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "explain-config 512 512 512 --json -");
  REQUIRE(ran.exit_code == 0);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["sms"] == 148);
  CHECK(json["config"]["mma"] == std::vector<int>{128, 32, 16});
  CHECK(json["config"]["k_group_size"] == 2);
  CHECK(json["scenario"].is_null());
  CHECK(json["candidates"].size() == 60);  // 2 orientations, 2 block heights, N of 256, 240 to 32
  CHECK(json["candidates"][json["chosen"].get<size_t>()]["waves"] == 1);
  for (const auto& decision : json["decisions"]) CHECK(json["config"][decision["key"]] == decision["value"]);

  const Ran both = run(scratch, "explain-config 512 512 512 --json j.json");
  CHECK(both.out.find("512 x 512 x 512") == 0);
  CHECK(read_whole(scratch / "j.json") == ran.out);
}

TEST_CASE("explain-config: bad input is one line and exit code 2", "[explain]") {
  ScratchDirectory scratch;
  scratch.write("a.toml", auto_scenario(64, 64, 64, 8));
  scratch.write("copy.toml", "kernel = \"pipeline_copy\"\nprofile = \"h200\"\n[problem]\nm = 64\nn = 64\n");
  const std::pair<const char*, const char*> bad[] = {
      {"explain-config", "SHAPE is required"},
      {"explain-config 512 512", "expected M N K or a scenario file"},
      {"explain-config 512 512 x", "K = x: allowed are integers 1 to"},
      {"explain-config 0 512 512", "M = 0: allowed are integers 1 to"},
      {"explain-config 512 9999999999 512", "N = 9999999999: allowed"},
      {"explain-config 512 100 512", "problem.n = 100: allowed are multiples of 8"},
      {"explain-config 512 512 12", "problem.k = 12: allowed are multiples of 8"},
      {"explain-config 512 512 512 --dtype e4m3", "not implemented: --dtype e4m3"},
      {"explain-config 512 512 512 --dtype int9", "--dtype int9: allowed is bf16"},
      {"explain-config 512 512 512 --profile b300", "profile 'b300': allowed are"},
      {"explain-config 512 512 512 --profile h200", "a device without tcgen05"},
      {"explain-config 512 512 512 --set run.sms=4", "for a scenario only"},
      {"explain-config a.toml --profile b200", "--profile: for a shape"},
      {"explain-config a.toml --json a.toml", "it is the input file"},
      {"explain-config copy.toml", "kernel pipeline_copy"},
      {"explain-config nowhere.toml", "nowhere.toml: no such file"},
      {"explain-config a.toml --set config=atuo", "allowed are \"auto\" and a table, [config]"},
      {"run a.toml --set problem.n=100", "'problem.n' = 100: allowed are multiples of 8"},
      {"run a.toml --set config.stages=3", "'config' is not a table"},
  };
  const size_t files_before = scratch.files();
  for (const auto& [arguments, says] : bad) {
    const Ran ran = run(scratch, arguments);
    INFO(arguments << "\nstderr: " << ran.err << "stdout: " << ran.out);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(ran.err.find(says) != std::string::npos);
    CHECK(scratch.files() == files_before);
  }
}

TEST_CASE("explain-config is among the commands", "[explain]") {
  ScratchDirectory scratch;
  CHECK(run(scratch, "--help").out.find("explain-config") != std::string::npos);
  CHECK(run(scratch, "explian").err.find("explain-config") != std::string::npos);
}

TEST_CASE("what config = \"auto\" picks computes the right product", "[explain]") {
  ScratchDirectory scratch;
  for (const Shape& shape : kShapes) {
    scratch.write("a.toml", auto_scenario(shape.m, shape.n, shape.k, shape.sms));
    const Ran ran = run(scratch, "run a.toml");
    INFO(shape.m << " x " << shape.n << " x " << shape.k << " on " << shape.sms << "\n" << ran.out << ran.err);
    CHECK(ran.exit_code == 0);
    CHECK(ran.out.find("verified     yes") != std::string::npos);
    CHECK(ran.out.find("config       auto: mma [") != std::string::npos);
  }
}

}  // namespace sm100::sim
