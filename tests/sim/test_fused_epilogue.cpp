// SPDX-License-Identifier: Apache-2.0
// The functor in registers and on the strip in shared memory: the same values wherever the
// strip does not round, and every term of every output type.
#include <cmath>

#include "catch.h"
#include "kernels/epilogue/element_functor.h"
#include "kernels/matmul/config.h"
#include "matmul_of.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/clusters.h"

namespace sm100::sim {
namespace {

/// Ragged in both directions, all terms.
Scenario all_terms(DataType output) {
  Scenario s = load_scenario(scenario_dir() + "/14_fused_epilogue.toml");
  matmul_of(s).m = 200, matmul_of(s).n = 272, matmul_of(s).k = 128;
  matmul_of(s).beta = -1.5f;
  matmul_of(s).config.output = output;
  matmul_of(s).config.stages = 2;
  return s;
}

RunResult passing(const Scenario& s) {
  const RunResult r = run_in_child(s);
  CAPTURE(s.configuration_json(), said(r), r.check.relative_error);
  CHECK(r.outcome == Outcome::pass);
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
      matmul_of(s).config.mma_m = g.mma_m, matmul_of(s).config.mma_n = g.mma_n;
      matmul_of(s).config.cta_group = matmul_of(s).config.cluster_m = g.cta_group;
      matmul_of(s).config.ab_swapped = swapped;
      const uint64_t in_registers = passing(s).output_hash;
      matmul_of(s).config.register_epilogue = false;
      CHECK(passing(s).output_hash == in_registers);
    }
}

TEST_CASE("on the strip, BF16 and FP16 outputs are rounded once more", "[epilogue]") {
  for (DataType output : {DataType::bf16, DataType::f16})
    for (bool swapped : {false, true}) {
      Scenario s = all_terms(output);
      matmul_of(s).config.ab_swapped = swapped;
      const double in_registers = passing(s).check.relative_error;
      matmul_of(s).config.register_epilogue = false;
      CHECK(passing(s).check.relative_error > 1.1 * in_registers);
    }
}

TEST_CASE("a product that is added to is rounded once, whatever the compiler contracts", "[epilogue]") {
  const float near_one = 1 + std::ldexp(1.f, -12),
              minus = -1 - std::ldexp(1.f, -11);  // near_one^2 = -minus + 2^-24
  float with_bias = -1, with_residual = -1;
  Clusters c(1, 1);
  c.program = [&](SimIsa& isa) {
    MatmulConfig cfg{.scaled = true, .bias = true};
    FunctorParams params;
    params.alpha = params.beta = near_one;
    with_bias = functor_of(
        isa, cfg, params, near_one, [&] { return minus; }, [] { return 0.f; });
    cfg.scaled = cfg.bias = false, cfg.residual = true;
    with_residual = functor_of(
        isa, cfg, params, minus, [] { return 0.f; }, [&] { return near_one; });
  };
  c.run();
  CHECK(with_bias == std::ldexp(1.f, -24));
  CHECK(with_residual == std::ldexp(1.f, -24));
}

TEST_CASE("a residual of FP8 elements is added before rounding", "[epilogue]") {
  for (DataType output : {DataType::e4m3, DataType::e5m2}) {
    Scenario s = all_terms(output);
    matmul_of(s).config.cta_group = matmul_of(s).config.cluster_m = 2,
    matmul_of(s).config.mma_n = 64;  // the halves of the columns side by side
    passing(s);
  }
}

TEST_CASE("results beyond the output type's range: FP8 saturates, FP16 becomes infinite, as the reference says",
          "[epilogue]") {
  Scenario s = load_scenario(scenario_dir() + "/01_dense_small.toml");
  matmul_of(s).m = matmul_of(s).n = 256, matmul_of(s).k = 512;
  matmul_of(s).config.scaled = true;
  struct Case {
    DataType output;
    float alpha;
  };
  for (const Case c : {Case{DataType::e4m3, 40}, {DataType::e5m2, 8000}, {DataType::f16, 8000}}) {
    matmul_of(s).config.output = c.output, matmul_of(s).alpha = c.alpha;
    passing(s);
  }
  matmul_of(s).config.register_epilogue = false;
  matmul_of(s).config.output = DataType::f16, matmul_of(s).alpha = 8000;
  passing(s);
}

TEST_CASE("the time of the functor on the strip does not depend on the data", "[epilogue]") {
  Scenario s = all_terms(DataType::bf16);
  matmul_of(s).config.register_epilogue = false;
  const uint64_t cycles = passing(s).cycles;
  s.data = DataMode::none;
  CHECK(run_in_child(s).cycles == cycles);
}

}  // namespace sm100::sim
