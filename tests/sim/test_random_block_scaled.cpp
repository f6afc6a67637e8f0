// SPDX-License-Identifier: Apache-2.0
// Every legal block-scaled configuration computes the right product on every shape: 500 random ones, with full data
// against float64, with data = none for the identical sequence of barrier events, and under jitter for identical
// numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/block_scaled/host/block_scaled_run.h"
#include "sim/explained.h"
#include "sim/random_sweep.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kPerBatch = 25;

class RandomBlockScaled {
 public:
  explicit RandomBlockScaled(uint64_t seed) : random_(seed) {}

  /// A legal one: what the rules reject is drawn again.
  Scenario next() {
    for (;;) {
      Scenario s = draw();
      const auto& p = s.problem_as<host::BlockScaledProblem>();
      if (host::check_block_scaled(p.config, p.m, p.n, p.k).empty()) return s;
    }
  }

 private:
  int between(int low, int high) { return low + int(random_() % uint64_t(high - low + 1)); }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return *(of.begin() + between(0, int(of.size()) - 1));
  }

  void draw_format(BlockScaledConfig& c) {
    c.format = pick({BlockFormat::mxfp8, BlockFormat::mxfp4, BlockFormat::nvfp4});
    c.dtype = c.format == BlockFormat::mxfp8 ? pick({DataType::e4m3, DataType::e5m2}) : DataType::e2m1;
    c.scale_type = c.format == BlockFormat::nvfp4 ? pick({ScaleType::ue4m3, ScaleType::ue4m3, ScaleType::ue8m0})
                                                  : ScaleType::ue8m0;
    c.mma_k = 32 * 8 / operand_bits(c);
  }

  void draw_scaled_output(host::BlockScaledProblem& p) {
    BlockScaledConfig& c = p.config;
    c.output = pick({DataType::e2m1, DataType::e4m3});
    c.scaled_output = {.block = pick({16, 32}),
                       .type = pick({ScaleType::ue4m3, ScaleType::ue8m0}),
                       .direction = pick({ScaleDirection::rows, ScaleDirection::rows, ScaleDirection::columns})};
    p.norm = pick({1.f, 1.f, 3.f});
  }

  Scenario draw() {
    Scenario s;
    s.name = "random";
    s.kernel = &host::block_scaled_definition();
    s.profile = "b200";
    s.device = load_profile("b200");
    host::BlockScaledProblem p;
    BlockScaledConfig& c = p.config;
    draw_format(c);
    c.cta_group = between(1, 2);
    const std::pair<int, int> cluster = pick<std::pair<int, int>>(
        {{1, 1}, {1, 1}, {2, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}, {2, 4}, {4, 4}});
    c.cluster_m = cluster.first, c.cluster_n = cluster.second;
    c.mma_m = 128 * c.cta_group, c.mma_n = pick({64, 128, 192, 256});
    if (between(0, 3) == 0) c.mma_n = 8 * between(1, 7);
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f32});
    if (between(0, 2) == 0) draw_scaled_output(p);
    if (between(0, 3) == 0) c.scaled = true, p.alpha = 0.75f;
    c.ab_swapped = between(0, 2) == 0 && !quantises(c);
    c.accum_stages = between(1, std::min(3, 512 / c.mma_n));
    c.static_scheduler = between(0, 3) == 0;
    c.clc_stages = c.static_scheduler ? 0 : between(0, 3);
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.block_swizzle = pick({0, 1, 2, 4, 8});
    c.mma_prefetch = between(0, 1) == 1;
    c.pdl = between(0, 1) == 1;
    c.stages = between(1, std::max(1, host::default_stages(c)));
    const int ctas = c.cluster_m * c.cluster_n;
    // N and K keep the tensor maps' 16-byte strides; M is free.
    p.m = between(1, (ctas > 4 ? 1 : 2) * c.cluster_m * 128);
    p.n = 8 * between(1, (ctas > 4 ? 1 : 2) * c.cluster_n * c.mma_n / 8);
    if (c.ab_swapped) std::swap(p.m, p.n), p.n = (p.n + 7) / 8 * 8;
    if (quantises(c)) {  // whole blocks, and rows of 16 bytes
      const int block = c.scaled_output.block;
      const bool rows = c.scaled_output.direction == ScaleDirection::rows;
      p.n = align_up(p.n, std::max(rows ? block : 8, 128 / output_bits(c)));
      if (!rows) p.m = align_up(p.m, block);
    }
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
#define SM100_SCALED_SWEEP(batch)                                                                               \
  TEST_CASE("random block-scaled configurations verify under jitter, batch " #batch, "[sweep][block_scaled]") { \
    check_random_scenarios<RandomBlockScaled>(103 * batch, kPerBatch);                                          \
  }
SM100_SCALED_SWEEP(1)
SM100_SCALED_SWEEP(2)
SM100_SCALED_SWEEP(3)
SM100_SCALED_SWEEP(4)
SM100_SCALED_SWEEP(5)
SM100_SCALED_SWEEP(6)
SM100_SCALED_SWEEP(7)
SM100_SCALED_SWEEP(8)
SM100_SCALED_SWEEP(9)
SM100_SCALED_SWEEP(10)
SM100_SCALED_SWEEP(11)
SM100_SCALED_SWEEP(12)
SM100_SCALED_SWEEP(13)
SM100_SCALED_SWEEP(14)
SM100_SCALED_SWEEP(15)
SM100_SCALED_SWEEP(16)
SM100_SCALED_SWEEP(17)
SM100_SCALED_SWEEP(18)
SM100_SCALED_SWEEP(19)
SM100_SCALED_SWEEP(20)

TEST_CASE("random configurations have no findings with provenance and strict scopes: block_scaled",
          "[sweep][explained]") {
  check_explained<RandomBlockScaled>();
}
