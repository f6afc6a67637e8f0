// The functor in registers and on the strip in shared memory (reference kernels.md 3.5, 3.6): the same values wherever the
// strip does not round, and every term of every output type.
#include "catch.h"
#include "paths.h"
#include "sim/child_process.h"

namespace sm100::sim {
namespace {

/// Ragged in both directions, all terms.
Scenario all_terms(DataType output) {
  Scenario s = load_scenario(scenario_dir() + "/fused_epilogue.toml");
  s.m = 200, s.n = 272, s.k = 128;
  s.beta = -1.5f;
  s.config.output = output;
  s.config.stages = 2;
  return s;
}

ChildResult passing(const Scenario& s) {
  const ChildResult r = run_child(s);
  CAPTURE(s.configuration_json(), r.text, r.relative_error);
  REQUIRE(r.ran);
  CHECK(r.result() == Outcome::pass);
  CHECK(r.verified);
  return r;
}

}  // namespace

TEST_CASE("FP32 output has the same bits whether the functor works in registers or on the strip", "[epilogue]") {
  struct Geometry {
    int mma_m, mma_n, cta_group;
  };
  for (const Geometry g : {Geometry{128, 128, 1}, {128, 48, 1}, {64, 24, 1}, {128, 96, 2}, {256, 64, 2}})
    for (bool swapped : {false, true}) {
      Scenario s = all_terms(DataType::f32);
      s.config.mma_m = g.mma_m, s.config.mma_n = g.mma_n;
      s.config.cta_group = s.config.cluster_m = g.cta_group;
      s.config.ab_swapped = swapped;
      const uint64_t in_registers = passing(s).output_hash;
      s.config.register_epilogue = false;
      CHECK(passing(s).output_hash == in_registers);
    }
}

TEST_CASE("on the strip, BF16 and FP16 outputs are rounded once more", "[epilogue]") {
  for (DataType output : {DataType::bf16, DataType::f16})
    for (bool swapped : {false, true}) {
      Scenario s = all_terms(output);
      s.config.ab_swapped = swapped;
      const double in_registers = passing(s).relative_error;
      s.config.register_epilogue = false;
      CHECK(passing(s).relative_error > 1.1 * in_registers);
    }
}

TEST_CASE("a residual of FP8 elements is added before rounding", "[epilogue]") {
  for (DataType output : {DataType::e4m3, DataType::e5m2}) {
    Scenario s = all_terms(output);
    s.config.cta_group = s.config.cluster_m = 2, s.config.mma_n = 64;  // the halves of the columns side by side
    passing(s);
  }
}

TEST_CASE("the time of the functor on the strip does not depend on the data", "[epilogue]") {
  Scenario s = all_terms(DataType::bf16);
  s.config.register_epilogue = false;
  const uint64_t cycles = passing(s).cycles;
  s.data = DataMode::none;
  CHECK(run_child(s).cycles == cycles);
}

}  // namespace sm100::sim
