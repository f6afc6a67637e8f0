// SPDX-License-Identifier: Apache-2.0
// The grouped 1D-2D matmul as its users meet it: what it computes and what it leaves alone, both ways to hand out
// tiles, layouts, automatic configurations, what it refuses.
#include "catch.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_run.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Scenario moe(const std::vector<std::string>& overrides = {}) {
  return host::load_scenario(scenario_dir() + "/grouped_1d2d/moe.toml", overrides);
}

std::string refusal(const std::vector<std::string>& overrides) {
  try {
    moe(overrides);
  } catch (const host::InputError& e) { return e.what(); }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("eight experts of FP8 weights, groups without one, ragged tails: sums are right and other rows untouched",
          "[grouped_1d2d]") {
  for (const Numerics numerics : {Numerics::fast, Numerics::b200}) {
    Scenario s = moe();
    s.numerics = numerics;
    s.problem_as<host::Grouped1d2dProblem>().config.output = DataType::f32;
    s.problem_as<host::Grouped1d2dProblem>().config.stages = 4;  // strips of FP32 are larger
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::pass);
    CHECK(r.verified);
    CHECK(r.check.rows == 200 + 129 + 300 + 1 + 256);
    CHECK(r.check.of_rows == r.check.rows);
    CHECK(r.check.relative_error < 1e-5);
    CHECK(!r.check.foreign);
    CHECK(r.warnings.empty());
  }
}

TEST_CASE("without a group of FP8 tokens that has an expert nothing is written", "[grouped_1d2d]") {
  for (const char* scheduling : {"replay", "ring"}) {
    const Scenario s =
        moe({"problem.experts=[-1, -1, -1, -1, -1, -1, -1, -1]", std::string("config.scheduling=") + scheduling});
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::pass);
    CHECK(r.check.rows == 0);
  }
}

TEST_CASE("sums of FP8 tokens have the same bits whoever walks and whatever the tiles are", "[grouped_1d2d]") {
  uint64_t hash = 0;
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{"config.scheduling=replay"},
        {"config.scheduling=ring"},
        {"config.scheduling=ring", "config.work_stages=1"},
        {"config.mma=[64, 256, 32]", "config.block_swizzle=2"},
        {"config.mma=[64, 136, 32]"},
        {"config.cta_group=2", "config.mma=[256, 128, 32]"},
        {"config.cta_group=2", "config.mma=[128, 256, 32]", "config.scheduling=ring"}}) {
    const Scenario s = moe(form);
    const RunResult r = run_in_child(s);
    CAPTURE(said(r), s.configuration_json());
    CHECK(r.verified);
    CHECK(r.warnings.empty());
    if (hash == 0) hash = r.output_hash;
    CHECK(r.output_hash == hash);
  }
}

TEST_CASE("a whole tile of sums stored over a group without an expert is found", "[grouped_1d2d]") {
  const RunResult r = run_in_child(moe({"config.store=whole"}));
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::findings);
  REQUIRE(!r.findings.empty());
  CHECK(r.findings[0].id == "GM5");
  REQUIRE(r.check.foreign);
  CHECK(r.check.foreign->first_row == 200 + 129);
}

TEST_CASE("config = \"auto\" of grouped_1d2d verifies in every layout", "[grouped_1d2d]") {
  for (const char* layout : {"prefix_sum", "contiguous", "masked"})
    for (const char* dtype : {"e4m3", "e5m2"}) {
      std::vector<std::string> overrides = {std::string("problem.layout=") + layout,
                                            std::string("problem.dtype=") + dtype};
      const std::string file = std::string(layout) == "masked" ? "auto_masked" : "auto_config";
      const Scenario s = host::load_scenario(scenario_dir() + "/grouped_1d2d/" + file + ".toml", overrides);
      const RunResult r = run_in_child(s);
      CAPTURE(said(r), s.configuration_json());
      CHECK(r.outcome == Outcome::pass);
      CHECK(r.verified);
    }
}

TEST_CASE("what is wrong with groups of FP8 tokens is said in a sentence", "[grouped_1d2d]") {
  CHECK(contains(refusal({"problem.experts=[0, 1]"}),
                 "key 'problem.experts' = [0, 1]: allowed are lists of 8 experts (an expert for each group of "
                 "problem.tokens)"));
  CHECK(contains(refusal({"problem.num_experts=4"}), "allowed are -1 (no expert) to 3 (B stacks 4 experts)"));
  CHECK(contains(refusal({"problem.slot_rows=128"}), "for layout = \"masked\" only: rows of each expert's slot"));
  CHECK(contains(refusal({"problem.layout=contiguous", "problem.alignment=64"}),
                 "allowed are multiples of 128 (a tile has 128 rows of tokens, all of one expert)"));
  CHECK(contains(refusal({"problem.layout=contiguous", "problem.alignment=0"}), "allowed are 1 to 1073741824"));
  CHECK(contains(refusal({"problem.layout=masked"}), "not with layout = \"masked\""));
  CHECK(contains(refusal({"problem.dtype=nvfp4"}), "allowed are \"e4m3\", \"e5m2\""));
  CHECK(contains(refusal({"config.cluster=[4, 1, 1]"}), "allowed are [1, 1, 1] (one CTA"));
  CHECK(contains(refusal({"config.work_stages=2"}), "for scheduling = \"ring\" only"));
  CHECK(contains(refusal({"config.mma=[128, 256, 32]"}),
                 "allowed are N = 16 to 160 in steps of 16 (a thread sums 256 elements"));
  CHECK(contains(refusal({"config.mma=[64, 224, 32]"}), "the epilogue has scales of two"));
  CHECK(contains(refusal({"config.ab_swapped=true"}), "they cannot change places"));
  CHECK(contains(refusal({"config.swizzle=32"}), "allowed are 128, 64"));
  CHECK(contains(refusal({"config.stages=9"}), "allowed are 1 to 6"));
  CHECK(contains(refusal({"problem.n=100"}), "allowed are multiples of 8"));
}

TEST_CASE("a launch of FP8 tokens may start before the one ahead of it has ended", "[grouped_1d2d]") {
  const RunResult r = run_in_child(moe({"config.pdl=true", "run.launches=2"}));
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::pass);
  CHECK(r.verified);
}
