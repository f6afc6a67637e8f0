// SPDX-License-Identifier: Apache-2.0
// The block-scaled matmul in CUTLASS's arrangement as its users meet it: both models of sums, overlapping
// accumulators that gain time, releases that come too early whatever the schedule, what it refuses.
#include "catch.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/program.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Scenario scenario(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return host::load_scenario(scenario_dir() + "/" + name + ".toml", overrides);
}

}  // namespace

TEST_CASE("FP32 output in CUTLASS's arrangement is within 1e-5 of float64, in both models of sums", "[cutlass]") {
  for (const char* name : {"smoke/cutlass_block_scaled_02", "smoke/cutlass_block_scaled_06"})
    for (const char* numerics : {"fast", "b200"}) {
      CAPTURE(name, numerics);
      const RunResult r =
          run_in_child(scenario(name, {"config.output=f32", std::string("run.numerics=") + numerics}));
      CAPTURE(said(r));
      CHECK(r.verified);
      CHECK(r.check.relative_error < 1e-5);
      CHECK(r.warnings.empty());
    }
}

TEST_CASE("the smoke configurations in CUTLASS's arrangement verify in the bit model, too", "[cutlass]") {
  int runs = 0;
  for (const std::string& name : scenario_names("smoke")) {
    if (name.find("smoke/cutlass") == std::string::npos) continue;
    CAPTURE(name);
    const RunResult r = run_in_child(scenario(name, {"run.numerics=b200"}));
    CAPTURE(said(r));
    CHECK(r.verified);
    CHECK(r.warnings.empty());
    ++runs;
  }
  CHECK(runs == 10);
}

TEST_CASE("accumulators that overlap take less time than one alone", "[cutlass]") {
  const auto cycles = [](const char* overlap) {
    const RunResult r =
        run_in_child(scenario("bugs/sound/cutlass_overlap", {"run.data=none", "config.accum_stages=1",
                                                             std::string("config.overlap=") + overlap}));
    CAPTURE(overlap, said(r));
    CHECK(r.outcome == Outcome::pass);
    return r.cycles;
  };
  CHECK(cycles("64") < cycles("0"));
}

TEST_CASE("config = \"auto\" in CUTLASS's arrangement: what explain-config says is what runs",
          "[cutlass][explain]") {
  const Scenario s = scenario("cutlass_block_scaled/auto_config");
  const CutlassBlockScaledConfig& c = s.problem_as<host::CutlassBlockScaledProblem>().config;
  CHECK(c.cta_group == 2);
  CHECK(overlaps(c));
  const RunResult r = run_in_child(s);
  CAPTURE(said(r));
  CHECK(r.verified);
  ScratchDirectory scratch;
  const Ran of_shape = run(scratch, "explain-config 4096 4096 4096 --kernel cutlass_block_scaled --dtype nvfp4");
  CHECK(of_shape.exit_code == 0);
  CHECK(of_shape.out.find("config = { cta_group = 2, mma = [256, 256, 64], cluster = [2, 1, 1], clc_stages = 2, "
                          "accum_stages = 1, overlap = 64, stages = 5, scale_slots = 1 }") != std::string::npos);
  CHECK(run(scratch, "explain-config 64 64 64 --kernel cutlass_block_scaled").exit_code == 2);
}

TEST_CASE("columns that are released before they are read are found whatever the schedule", "[cutlass]") {
  for (const char* name : {"bugs/tensor_memory/overlap_released_early", "cutlass_block_scaled/forward"})
    for (uint64_t seed = 0; seed < 6; ++seed) {
      Scenario s = scenario(name, {"run.data=none"});
      s.expect = {};
      if (seed) s.jitter = seed;
      const RunResult r = run_in_child(s);
      CAPTURE(name, seed, said(r));
      CHECK(r.outcome == Outcome::findings);
    }
}

TEST_CASE("a scenario in CUTLASS's arrangement that breaks a rule is refused in a sentence", "[cutlass]") {
  const auto refused = [](const char* name, const std::vector<std::string>& overrides, const char* part) {
    CAPTURE(name, overrides, part);
    try {
      scenario(name, overrides);
      FAIL("accepted");
    } catch (const host::InputError& e) {
      CAPTURE(e.what());
      CHECK(std::string(e.what()).find(part) != std::string::npos);
    }
  };
  const char* const wide = "smoke/cutlass_block_scaled_02";
  refused(wide, {"config.overlap=48"}, "0 to 224 in steps of 32");
  refused(wide, {"config.overlap=32"}, "together 528: tensor memory has 512");
  refused(wide, {"config.overlap=64", "config.accum_stages=2"}, "handed over as one stage");
  refused(wide, {"config.scale_slots=3"}, "3 slots of 16 + 32 columns of scales 144, together 592");
  refused(wide, {"config.scale_slots=2"}, "one slot of scales for all ring stages, or one for each");
  refused(wide, {"config.residual_stages=0"}, "1 to 16");
  refused(wide, {"config.ab_swapped=true"}, "not implemented");
  refused(wide, {"config.cluster=[8, 1, 1]"}, "at most 4 CTAs along M and N");
  refused(wide, {"config.mma=[128, 96, 64]"}, "N = 64, 128, 192, 256");
  refused("smoke/cutlass_block_scaled_01", {"config.strip_order=forward"}, "\"shared_first\"");
}
