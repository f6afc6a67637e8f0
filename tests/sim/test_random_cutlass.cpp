// SPDX-License-Identifier: Apache-2.0
// Every legal configuration of the block-scaled matmul in CUTLASS's arrangement computes the right product on every
// shape (random_sweep.h).  SM100_SWEEP_BATCHES=N runs N batches of 25 more.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_rules.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.h"
#include "sim/explained.h"
#include "sim/random_sweep.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kPerBatch = 25;

class RandomCutlass {
 public:
  explicit RandomCutlass(uint64_t seed) : random_(seed) {}

  /// A legal one: what the rules reject is drawn again.
  Scenario next() {
    for (;;) {
      Scenario s = draw();
      const auto& p = s.problem_as<host::CutlassBlockScaledProblem>();
      if (host::check_cutlass(p.config, p.m, p.n, p.k).empty()) return s;
    }
  }

 private:
  int between(int low, int high) { return low + int(random_() % uint64_t(high - low + 1)); }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return *(of.begin() + between(0, int(of.size()) - 1));
  }

  void draw_format(CutlassBlockScaledConfig& c) {
    c.format = pick({BlockFormat::mxfp8, BlockFormat::mxfp4, BlockFormat::nvfp4});
    c.dtype = c.format == BlockFormat::mxfp8 ? pick({DataType::e4m3, DataType::e5m2}) : DataType::e2m1;
    c.scale_type = c.format == BlockFormat::nvfp4 ? pick({ScaleType::ue4m3, ScaleType::ue4m3, ScaleType::ue8m0})
                                                  : ScaleType::ue8m0;
    c.mma_k = 32 * 8 / operand_bits(c);
  }

  void draw_epilogue(host::CutlassBlockScaledProblem& p) {
    CutlassBlockScaledConfig& c = p.config;
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f32});
    if (between(0, 2) == 0) c.scaled = true, p.alpha = 0.75f;
    if (between(0, 1) == 0) c.residual = true, p.beta = pick({1.f, -0.5f});
    c.residual_stages = between(1, 4);
    // Any overlap that the strips allow, in tiles of any width.
    if (between(0, 1) == 0)
      c.overlap_columns = 32 * between(1, c.mma_n / 32 - 1), c.accum_stages = 1;
    else
      c.accum_stages = between(1, std::min(3, 512 / c.mma_n));
  }

  Scenario draw() {
    Scenario s;
    s.name = "random";
    s.kernel = &host::cutlass_block_scaled_definition();
    s.profile = "b200";
    s.device = load_profile("b200");
    host::CutlassBlockScaledProblem p;
    CutlassBlockScaledConfig& c = p.config;
    draw_format(c);
    c.cta_group = between(1, 2);
    const std::pair<int, int> cluster =
        pick<std::pair<int, int>>({{1, 1}, {1, 1}, {2, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}, {4, 4}});
    c.cluster_m = cluster.first, c.cluster_n = cluster.second;
    c.mma_m = 128 * c.cta_group, c.mma_n = pick({64, 128, 192, 256, 256});
    draw_epilogue(p);
    c.static_scheduler = between(0, 3) == 0;
    c.clc_stages = c.static_scheduler ? 0 : between(0, 3);
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.block_swizzle = pick({0, 1, 2, 4, 8});
    c.mma_prefetch = between(0, 1) == 1;
    c.pdl = between(0, 1) == 1;
    c.stages = between(1, std::max(1, host::default_cutlass_stages(c)));
    c.scale_slots = pick({1, host::default_scale_slots(c)});
    const int ctas = c.cluster_m * c.cluster_n;
    // N and K keep the tensor maps' 16-byte strides; M is free.
    p.m = between(1, (ctas > 4 ? 1 : 3) * c.cluster_m * 128);
    p.n = 8 * between(1, (ctas > 4 ? 1 : 2) * c.cluster_n * c.mma_n / 8);
    p.k = 128 / operand_bits(c) * between(1, 32);
    s.problem = p;
    s.sms = ctas > 4 ? 18 : ctas * between(1, 2);
    s.seed = random_();
    return s;
  }

  std::mt19937_64 random_;
};

}  // namespace

// Batches are test cases of their own, so that they run in parallel.
#define SM100_CUTLASS_SWEEP(batch)                                                                                 \
  TEST_CASE("random cutlass_block_scaled configurations verify under jitter, batch " #batch, "[sweep][cutlass]") { \
    check_random_scenarios<RandomCutlass>(307 * batch, kPerBatch);                                                 \
  }
SM100_CUTLASS_SWEEP(1)
SM100_CUTLASS_SWEEP(2)
SM100_CUTLASS_SWEEP(3)
SM100_CUTLASS_SWEEP(4)

TEST_CASE("more random cutlass_block_scaled configurations, where SM100_SWEEP_BATCHES asks for them",
          "[sweep][cutlass]") {
  const char* batches = std::getenv("SM100_SWEEP_BATCHES");
  for (int batch = 5; batches && batch < 5 + std::atoi(batches); ++batch)
    check_random_scenarios<RandomCutlass>(307 * uint64_t(batch), kPerBatch);
}

TEST_CASE("random configurations have no findings with provenance and strict scopes: cutlass_block_scaled",
          "[sweep][explained]") {
  check_explained<RandomCutlass>();
}
