// SPDX-License-Identifier: Apache-2.0
// The block-scaled matmul as its users meet it: accumulators, padding, automatic configurations, what it refuses.
#include "catch.h"
#include "kernels/block_scaled/host/block_scaled_run.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

TEST_CASE("FP32 output of a block-scaled product is within 1e-5 of float64, in both models of sums",
          "[block_scaled]") {
  for (const char* name : {"smoke/block_scaled_01", "smoke/block_scaled_04", "smoke/block_scaled_05"}) {
    for (const Numerics numerics : {Numerics::fast, Numerics::b200}) {
      CAPTURE(name);
      Scenario s = load_by_name(name);
      s.problem_as<host::BlockScaledProblem>().config.output = DataType::f32;
      s.problem_as<host::BlockScaledProblem>().config.stages = 4;  // strips of FP32 are larger
      s.numerics = numerics;
      const RunResult r = run_in_child(s);
      CAPTURE(said(r));
      CHECK(r.verified);
      CHECK(r.check.relative_error < 1e-5);
    }
  }
}

TEST_CASE("NaN in the padding of scales reaches the result, zeros do not", "[block_scaled]") {
  Scenario s = load_by_name("block_scaled/padding_nan");
  CHECK(run_in_child(s).outcome == Outcome::mismatch);
  s.problem_as<host::BlockScaledProblem>().scale_padding = host::ScalePadding::zero;
  const RunResult r = run_in_child(s);
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::pass);
  CHECK(r.verified);
}

TEST_CASE("config = \"auto\" of every format verifies", "[block_scaled]") {
  for (const char* dtype : {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp4", "nvfp4"})
    for (const char* m : {"16", "200"}) {
      CAPTURE(dtype, m);
      const Scenario s =
          host::load_scenario(scenario_dir() + "/block_scaled/auto_config.toml",
                              {std::string("problem.dtype=") + dtype, std::string("problem.m=") + m});
      const RunResult r = run_in_child(s);
      CAPTURE(said(r), s.configuration_json());
      CHECK(r.outcome == Outcome::pass);
      CHECK(r.verified);
    }
}

TEST_CASE("NVFP4 on sizes that fill neither tiles nor clusters", "[block_scaled]") {
  const std::vector<std::vector<std::string>> cases = {
      {"problem.m=999", "problem.n=256", "problem.k=256", "config.cluster=[8, 2, 1]", "config.block_swizzle=2"},
      {"problem.m=1", "problem.n=576", "problem.k=14336", "config.cluster=[4, 4, 1]", "config.alpha=0.5"},
      {"problem.m=16", "problem.n=1024", "problem.k=2112", "config.ab_swapped=true"}};
  for (const auto& overrides : cases)
    for (const char* mma : {"config.mma=[128, 128, 64]", "config.mma=[128, 256, 64]"}) {
      auto all = overrides;
      all.insert(all.end(), {mma, "run.sms=36"});
      const Scenario s = host::load_scenario(scenario_dir() + "/smoke/block_scaled_05.toml", all);
      const RunResult r = run_in_child(s);
      CAPTURE(said(r), s.configuration_json());
      CHECK(r.outcome == Outcome::pass);
      CHECK(r.verified);
      CHECK(r.warnings.empty());
    }
}
