// SPDX-License-Identifier: Apache-2.0
// The grouped block-scaled matmul as its users meet it: 64 shapes, groups without rows or K, pairs, stale maps,
// what it refuses.
#include "catch.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_run.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Scenario scenario(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return host::load_scenario(scenario_dir() + "/" + name + ".toml", overrides);
}

}  // namespace

TEST_CASE("64 groups of 64 shapes, some empty, one with K = 0, verify", "[grouped_block_scaled]") {
  for (const char* name : {"grouped/shapes_64", "grouped/shapes_64_pairs"}) {
    CAPTURE(name);
    const Scenario s = scenario(name);
    CHECK(s.problem_as<host::GroupedBlockScaledProblem>().groups.size() == 64);
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::pass);
    CHECK(r.verified);
    CHECK(r.warnings.empty());
  }
}

TEST_CASE("FP32 output of groups is within 1e-5 of float64, in both models of sums", "[grouped_block_scaled]") {
  for (const char* name : {"smoke/grouped_block_scaled_02", "smoke/grouped_block_scaled_04"})
    for (const char* numerics : {"fast", "b200"}) {
      CAPTURE(name, numerics);
      const RunResult r = run_in_child(
          scenario(name, {"config.output=f32", "config.stages=4", std::string("run.numerics=") + numerics}));
      CAPTURE(said(r));
      CHECK(r.verified);
      CHECK(r.check.relative_error < 1e-5);
    }
}

TEST_CASE("a group of K = 0 is zeros, not what tensor memory holds", "[grouped_block_scaled]") {
  const RunResult right = run_in_child(scenario("bugs/sound/grouped_without_k"));
  CHECK(right.outcome == Outcome::pass);
  CHECK(right.verified);
  CHECK(run_in_child(scenario("grouped/without_k_stored")).outcome == Outcome::mismatch);
}

TEST_CASE("maps that are not acquired or not released are the old ones: without checks the numbers are wrong",
          "[grouped_block_scaled]") {
  for (const char* name : {"bugs/maps/acquire_missing", "bugs/maps/release_missing"}) {
    CAPTURE(name);
    Scenario s = scenario(name, {"run.hazards=false"});
    s.expect = {};
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.outcome != Outcome::pass);
    CHECK(r.outcome != Outcome::findings);
  }
}

TEST_CASE("a grouped problem that breaks a rule is refused in a sentence", "[grouped_block_scaled]") {
  const auto refused = [](const std::string& override, const char* part) {
    CAPTURE(override, part);
    try {
      scenario("smoke/grouped_block_scaled_01", {override});
      FAIL("accepted");
    } catch (const host::InputError& e) {
      CAPTURE(e.what());
      CHECK(std::string(e.what()).find(part) != std::string::npos);
    }
  };
  refused("problem.groups=[[128, 12, 256]]", "N that are multiples of 8");
  refused("problem.groups=[[128, 128, 16]]", "K that are multiples of 32");
  refused("problem.groups=[[0, 128, 256]]", "nothing to launch");
  refused("problem.groups=[[128, -8, 256]]", "0 to 1073741824");
  refused("problem.groups=[[128, 128]]", "lists of lists of 3 integers");
  refused("config.map_slots=0", "1 to 64");
  refused("config.stages=9", "1 to 5");
  refused("config.mma=[128, 36, 64]", "8 to 56 in steps of 8");
  refused("config.cluster=[2, 1, 1]", "cluster");
}

TEST_CASE("fewer sets of maps than stages and one is a warning of the scenario", "[grouped_block_scaled]") {
  const Scenario s = scenario("grouped/one_set_of_maps");
  REQUIRE(s.warnings.size() == 1);
  CHECK(s.warnings[0].find("fewer than stages + 1 = 4") != std::string::npos);
}
