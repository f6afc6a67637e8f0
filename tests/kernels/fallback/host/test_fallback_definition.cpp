// SPDX-License-Identifier: Apache-2.0
// [problem] and [config] of the fallback kernel: what they mean, and one line for what is wrong.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "kernels/fallback/host/fallback_run.h"
#include "scratch_directory.h"

using namespace sm100;
using namespace sm100::host;

namespace {

Scenario load(const std::string& set = "run.sms=4") {
  ScratchDirectory scratch;
  const auto path = scratch.write(
      "s.toml",
      "kernel = 'fallback'\nprofile = 'b200'\n[problem]\nm = 300\nn = 203\nk = 72\n[config]\nblock_n = 64\n");
  return load_scenario(path, {set});
}

std::string complaint(const std::string& set) {
  try {
    load(set);
  } catch (const InputError& error) { return error.what(); }
  return "";
}

}  // namespace

TEST_CASE("a fallback scenario: a CTA per tile, columns along x, and the matmul's tensors") {
  const Scenario s = load();
  CHECK(s.problem_as<FallbackProblem>().config ==
        FallbackConfig{.output = DataType::bf16, .block_m = 128, .block_n = 64});
  const auto problem = make_run(s);
  const LaunchShape shape = problem->launch();
  CHECK(shape.grid == Dim3{4, 3, 1});  // ceil(203 / 64), ceil(300 / 128)
  CHECK(shape.warps == 4);
  CHECK(shape.smem_bytes == 24596);  // from 0x400: (128 + 64) x 128 bytes, two barriers, one address
  const auto tensors = problem->tensors();
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].bytes == 300 * 72 * 2);
  CHECK(tensors[1].bytes == 203 * 72 * 2);
  CHECK(tensors[2].bytes == 300 * 203 * 2);
  CHECK(make_run(load("config.output=f32"))->tensors()[2].bytes == 300 * 203 * 4);
  const auto barriers = problem->barriers();
  REQUIRE(barriers.size() == 2);
  CHECK(barriers[0].name == std::string("tma"));
  CHECK(barriers[1].name == std::string("mma"));
  CHECK(barriers[0].count == 1);
  CHECK(barriers[1].count == 1);
  CHECK(nlohmann::json::parse(s.configuration_json())["block_n"] == 64);
}

TEST_CASE("a fallback scenario's wrong values") {
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  CHECK_THAT(complaint("config.block_m=96"),
             contains("'config.block_m' = 96: allowed are 64, 128 (M of tcgen05.mma)"));
  CHECK_THAT(
      complaint("config.block_n=24"),
      contains(
          "'config.block_n' = 24: allowed are multiples of 16 from 16 to 256 (N of tcgen05.mma with M = 128)"));
  CHECK_THAT(complaint("config.block_n=272"), contains("allowed are multiples of 16 from 16 to 256"));
  CHECK_THAT(complaint("config.stages=2"), contains("config.stages"));
  CHECK_THAT(complaint("config.output=f16"), contains("\"bf16\""));
  CHECK_THAT(complaint("problem.k=20"), contains("allowed are multiples of 8 from 8 to"));
  CHECK_THAT(complaint("problem.m=8388481"),
             contains("allowed are 1 to 8388480 (the grid has at most 65535 rows of 128)"));
  CHECK_THAT(complaint("problem.n=0"), contains("allowed are 1 to"));
  CHECK_THAT(complaint("profile=h200"), contains("without tcgen05"));
  CHECK(complaint("run.numerics=b200") == "");
}
