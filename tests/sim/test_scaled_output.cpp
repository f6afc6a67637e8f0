// SPDX-License-Identifier: Apache-2.0
// FP4 and FP8 output with generated scales: the recipe on blocks that hurt, what it is compared with, and what the
// comparison finds.
#include <cmath>
#include <limits>
#include <random>

#include "catch.h"
#include "kernels/block_scaled/host/block_scaled_run.h"
#include "kernels/block_scaled/host/quantized_reference.h"
#include "kernels/epilogue/block_quantizer.h"
#include "role_code.h"
#include "scenario_files.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

/// A block as the kernel's lanes quantise it.
template <class I>
host::QuantizedBlock quantised(I& isa, DataType type, ScaleType scale_type, float norm, const float (&x)[16]) {
  const ScaledOutputParams params{.norm = norm, .norm_over_max = norm / largest_element(type)};
  float amax = 0;
  for (const float value : x) amax = larger_magnitude(isa, amax, as_bits(value));
  const BlockScale scale = scale_of_block(isa, {.block = 16, .type = scale_type}, params, amax);
  uint32_t y[16];
  for (int i = 0; i < 16; ++i) y[i] = as_bits(x[i] * scale.factor);
  host::QuantizedBlock block;
  block.scale = uint8_t(scale.code);
  const int bits = type == DataType::e2m1 ? 4 : 8, per_word = 32 / bits;
  for (int i = 0; i < 16; ++i)
    block.elements[i] =
        uint8_t(packed_word(isa, type, y + i / per_word * per_word) >> bits * (i % per_word) & ((1u << bits) - 1));
  return block;
}

/// Runs it on the model, in a process of its own.
template <class F>
std::string on_the_model(F&& program) {
  return diagnosis({.program = program, .warps = 1, .with_data = true});
}

bool same(const host::QuantizedBlock& a, const host::QuantizedBlock& b) {
  return a.scale == b.scale && std::equal(a.elements, a.elements + 16, b.elements);
}

}  // namespace

TEST_CASE("a block of zeros stays zero, a NaN makes its whole block NaN, infinity saturates", "[scaled_output]") {
  CHECK(on_the_model([](RoleIsa& isa) {
          const float zeros[16] = {0, -0.f};
          const host::QuantizedBlock zero = quantised(isa, DataType::e2m1, ScaleType::ue4m3, 1, zeros);
          must(zero.scale == 0 && zero.elements[0] == 0 && zero.elements[1] == 0x8);
          const host::QuantizedBlock power = quantised(isa, DataType::e4m3, ScaleType::ue8m0, 4, zeros);
          must(power.scale == 0 && power.elements[0] == 0 && power.elements[1] == 0x80);
          const float with_nan[16] = {1, 2, kNan};
          const host::QuantizedBlock fp4 = quantised(isa, DataType::e2m1, ScaleType::ue4m3, 1, with_nan);
          must(fp4.scale == 0x7f && fp4.elements[0] == 7 && fp4.elements[2] == 7 && fp4.elements[3] == 7);
          const host::QuantizedBlock fp8 = quantised(isa, DataType::e4m3, ScaleType::ue8m0, 1, with_nan);
          must(fp8.scale == 0xff && fp8.elements[0] == 0x7f && fp8.elements[3] == 0x7f);
          const float with_infinity[16] = {-kInf, 1};
          const host::QuantizedBlock large = quantised(isa, DataType::e2m1, ScaleType::ue4m3, 1, with_infinity);
          must(large.scale == 0x7e && large.elements[0] == 0xf && large.elements[1] == 0);
        }) == "");
}

TEST_CASE("scales are rounded, and elements divided by the rounded ones", "[scaled_output]") {
  CHECK(on_the_model([](RoleIsa& isa) {
          // 6.2 / 6 = 1.0333 becomes 1: 6.2 is more than 6 times that, and saturates.
          const float up[16] = {6.2f, 5.1f, 2.6f};
          const host::QuantizedBlock fp4 = quantised(isa, DataType::e2m1, ScaleType::ue4m3, 1, up);
          must(fp4.scale == 0x38 && fp4.elements[0] == 7 && fp4.elements[1] == 7 && fp4.elements[2] == 5);
          // ue8m0 rounds up: 450 / 448 becomes 2, and 450 / 2 = 225 becomes 224.
          const float over[16] = {450};
          const host::QuantizedBlock fp8 = quantised(isa, DataType::e4m3, ScaleType::ue8m0, 1, over);
          must(fp8.scale == 128 && fp8.elements[0] == 0x76);
        }) == "");
}

TEST_CASE("the kernel's recipe and the reference agree on every bit", "[scaled_output]") {
  CHECK(on_the_model([](RoleIsa& isa) {
          std::mt19937 random(7);
          for (const DataType type : {DataType::e2m1, DataType::e4m3})
            for (const ScaleType scale : {ScaleType::ue4m3, ScaleType::ue8m0})
              for (const float norm : {1.f, 3.f, 0.25f, 2688.f})
                for (int i = 0; i < 2000; ++i) {
                  const float size = std::ldexp(1.f, int(random() % 200) - 100);
                  float x[16];
                  for (float& value : x) {
                    value = size * float(int32_t(random())) / 2147483648.f;
                    if (i % 10 == 1) value = float(int(random() % 13) - 6) / 2;  // ties
                    if (i % 10 == 2 && random() % 16 == 0) value = kNan;
                    if (i % 10 == 3 && random() % 16 == 0) value = -kInf;
                  }
                  must(same(quantised(isa, type, scale, norm, x),
                            host::quantized_block(type, scale, norm, x, 16, 1)));
                }
        }) == "");
}

TEST_CASE("lanes exchange registers: shfl.sync.bfly and redux.sync.max.abs.NaN", "[scaled_output]") {
  CHECK(on_the_model([](RoleIsa& isa) {
          for (const int mask : {1, 8, 16}) {
            const LaneArray<uint32_t, 1> swapped = isa.shfl_sync_bfly_b32(isa.laneid(), mask);
            for (int lane = 0; lane < 32; ++lane) must(swapped(lane) == uint32_t(lane ^ mask));
          }
          LaneArray<uint32_t, 1> values;
          for (int lane = 0; lane < 32; ++lane) values(lane) = as_bits(lane == 9 ? -100.f : float(lane));
          LaneArray<uint32_t, 1> largest = isa.redux_sync_max_abs_nan_f32(values);
          for (int lane = 0; lane < 32; ++lane) must(largest(lane) == as_bits(100.f));
          values(31) = 0xff800001;
          largest = isa.redux_sync_max_abs_nan_f32(values);
          must(largest(0) == 0x7fffffff);
        }) == "");
  const std::string apart =
      on_the_model([](RoleIsa& isa) { isa.elected([&] { isa.shfl_sync_bfly_b32(isa.laneid(), 1); }); });
  CHECK(apart.find("finding") != std::string::npos);
}

TEST_CASE("the sums that a quantised output is compared with are the accumulators, bit for bit",
          "[scaled_output]") {
  for (const char* name : {"smoke/block_scaled_output_01", "smoke/block_scaled_output_02",
                           "smoke/block_scaled_output_03", "smoke/block_scaled_output_04"}) {
    for (const Numerics numerics : {Numerics::fast, Numerics::b200}) {
      CAPTURE(name, int(numerics));
      Scenario s = load_by_name(name);
      host::BlockScaledProblem& p = s.problem_as<host::BlockScaledProblem>();
      p.config.output = DataType::f32, p.config.scaled_output = {};
      p.config.scaled = false;
      p.config.stages = 3;  // strips of FP32 are larger
      s.numerics = numerics;
      const RunResult r = run_in_child(s);
      CAPTURE(said(r));
      CHECK(r.verified);
      const host::BlockScaledRun run(s);
      std::vector<std::vector<uint8_t>> bytes;
      std::vector<const uint8_t*> tensors;
      for (size_t i = 0; i < run.tensors().size(); ++i) {
        bytes.emplace_back(run.tensors()[i].bytes);
        run.fill(i, bytes.back().data());
      }
      for (const auto& tensor : bytes) tensors.push_back(tensor.data());
      const std::vector<float> sums = run.sums(tensors, 0, p.m);
      CHECK(host::hash_of(reinterpret_cast<const uint8_t*>(sums.data()), sums.size() * sizeof(float)) ==
            r.output_hash);
    }
  }
}

TEST_CASE("mistakes in the recipe are found", "[scaled_output]") {
  for (const char* name : {"block_scaled/reciprocal_unrounded", "block_scaled/amax_of_accumulators"}) {
    CAPTURE(name);
    Scenario s = load_by_name(name);
    const RunResult wrong = run_in_child(s);
    CAPTURE(said(wrong));
    CHECK(wrong.outcome == Outcome::mismatch);
    CHECK(wrong.check.wrong_element.has_value());
    OutputScaling& how = s.problem_as<host::BlockScaledProblem>().config.scaled_output;
    how.reciprocal_of_rounded = how.amax_of_results = true;
    const RunResult right = run_in_child(s);
    CHECK(right.outcome == Outcome::pass);
    CHECK(right.output_hash != wrong.output_hash);
  }
}

TEST_CASE("scales are part of a run's outputs: every launch has its own, and the hash covers them",
          "[scaled_output]") {
  Scenario s = load_by_name("smoke/block_scaled_output_01");
  const RunResult once = run_in_child(s);
  s.launches = 2;
  const RunResult twice = run_in_child(s);
  CHECK(twice.outcome == Outcome::pass);
  CHECK(twice.output_hash != once.output_hash);
  s.launches = 1;
  s.problem_as<host::BlockScaledProblem>().config.scaled_output.type = ScaleType::ue8m0;
  CHECK(run_in_child(s).output_hash != once.output_hash);
}
