// SPDX-License-Identifier: Apache-2.0
// The blockwise matmul as its users meet it: sums, automatic configurations, what its traces and reports name.
#include "catch.h"
#include "kernels/blockwise/host/blockwise_run.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

TEST_CASE("FP32 output of a blockwise product is within 1e-5 of float64, in both models of sums", "[blockwise]") {
  for (const char* name :
       {"smoke/blockwise_01", "smoke/blockwise_04", "smoke/blockwise_05", "smoke/blockwise_07"}) {
    for (const Numerics numerics : {Numerics::fast, Numerics::b200}) {
      CAPTURE(name);
      Scenario s = load_by_name(name);
      s.problem_as<host::BlockwiseProblem>().config.output = DataType::f32;
      s.problem_as<host::BlockwiseProblem>().config.stages = 4;  // strips of FP32 are larger
      s.numerics = numerics;
      const RunResult r = run_in_child(s);
      CAPTURE(said(r));
      CHECK(r.verified);
      CHECK(r.check.relative_error < 1e-5);
    }
  }
}

TEST_CASE("products with bf16 scales are exact to the scales as they are stored", "[blockwise]") {
  for (const char* name : {"smoke/blockwise_01", "smoke/blockwise_03", "smoke/blockwise_07",
                           "smoke/grouped_1d2d_01", "smoke/grouped_1d2d_04", "grouped_1d2d/auto_masked"})
    for (const char* output : {"bf16", "f32"}) {
      CAPTURE(name, output);
      std::vector<std::string> overrides = {"problem.scale_dtype=bf16"};
      const bool chosen = std::string(name).find("auto") != std::string::npos;
      if (!chosen) overrides.insert(overrides.end(), {std::string("config.output=") + output, "config.stages=4"});
      const Scenario s = host::load_scenario(scenario_dir() + "/" + name + ".toml", overrides);
      const RunResult r = run_in_child(s);
      CAPTURE(said(r), s.configuration_json());
      CHECK(r.outcome == Outcome::pass);
      CHECK(r.verified);
      CHECK(r.warnings.empty());
      CHECK(s.configuration_json().find("\"scale_dtype\":\"bf16\"") != std::string::npos);
      if (!chosen && output == std::string("f32")) CHECK(r.check.relative_error < 1e-5);
    }
}

TEST_CASE("config = \"auto\" of the blockwise matmul verifies", "[blockwise]") {
  for (const char* dtype : {"e4m3", "e5m2"})
    for (const char* m : {"16", "200"}) {
      CAPTURE(dtype, m);
      const Scenario s =
          host::load_scenario(scenario_dir() + "/blockwise/auto_config.toml",
                              {std::string("problem.dtype=") + dtype, std::string("problem.m=") + m});
      const RunResult r = run_in_child(s);
      CAPTURE(said(r), s.configuration_json());
      CHECK(r.outcome == Outcome::pass);
      CHECK(r.verified);
    }
}

TEST_CASE("the blockwise matmul on sizes that fill neither tiles nor clusters", "[blockwise]") {
  const std::vector<std::vector<std::string>> cases = {
      {"problem.m=1000", "problem.n=576", "problem.k=320", "config.cluster=[2, 1, 1]"},
      {"problem.m=999", "problem.n=136", "problem.k=272", "config.cluster=[8, 2, 1]"},
      {"problem.m=1", "problem.n=8", "problem.k=16"}};
  for (const auto& overrides : cases)
    for (const char* mma : {"config.mma=[64, 256, 32]", "config.mma=[64, 128, 32]", "config.mma=[64, 160, 32]"}) {
      auto all = overrides;
      all.insert(all.end(), {mma, "run.sms=18"});
      const Scenario s = host::load_scenario(scenario_dir() + "/smoke/blockwise_01.toml", all);
      const RunResult r = run_in_child(s);
      CAPTURE(said(r), s.configuration_json());
      CHECK(r.outcome == Outcome::pass);
      CHECK(r.verified);
      CHECK(r.warnings.empty());
    }
}
