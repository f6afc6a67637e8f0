// SPDX-License-Identifier: Apache-2.0
// Every legal blockwise configuration computes the right product on every shape: 500 random ones, with full data
// against float64, with data = none for the identical sequence of barrier events, and under jitter for identical
// numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "kernels/blockwise/host/blockwise_rules.h"
#include "kernels/blockwise/host/blockwise_run.h"
#include "sim/explained.h"
#include "sim/random_sweep.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kPerBatch = 25;

class RandomBlockwise {
 public:
  explicit RandomBlockwise(uint64_t seed) : random_(seed) {}

  /// A legal one: what the rules reject is drawn again.
  Scenario next() {
    for (;;) {
      Scenario s = draw();
      const auto& p = s.problem_as<host::BlockwiseProblem>();
      if (host::check_blockwise(p.config, p.m, p.n, p.k).empty()) return s;
    }
  }

 private:
  int between(int low, int high) { return low + int(random_() % uint64_t(high - low + 1)); }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return *(of.begin() + between(0, int(of.size()) - 1));
  }

  Scenario draw() {
    Scenario s;
    s.name = "random";
    s.kernel = &host::blockwise_definition();
    s.profile = "b200";
    s.device = load_profile("b200");
    host::BlockwiseProblem p;
    BlockwiseConfig& c = p.config;
    c.dtype = pick({DataType::e4m3, DataType::e4m3, DataType::e5m2});
    c.scale_dtype = pick({DataType::f32, DataType::bf16});
    c.cta_group = between(1, 2);
    const std::pair<int, int> cluster = pick<std::pair<int, int>>(
        {{1, 1}, {1, 1}, {2, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}, {2, 4}, {4, 4}});
    c.cluster_m = cluster.first, c.cluster_n = cluster.second;
    c.mma_m = pick({64, 128}) * c.cta_group;
    c.mma_n = c.mma_m == 64 && between(0, 1) == 0 ? 8 * between(1, 17) : 16 * between(1, 16);
    c.swizzle = pick({Swizzle::b128, Swizzle::b128, Swizzle::b64});
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f32});
    c.accum_stages = between(1, std::min(4, 512 / c.mma_n));
    c.static_scheduler = between(0, 3) == 0;
    c.clc_stages = c.static_scheduler ? 0 : between(0, 3);
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.block_swizzle = pick({0, 1, 2, 4, 8});
    c.mma_prefetch = between(0, 1) == 1;
    c.stages = between(1, std::max(1, host::default_stages(c)));
    const int ctas = c.cluster_m * c.cluster_n;
    // N and K keep the tensor maps' 16-byte strides; M is free.
    p.m = between(1, (ctas > 4 ? 1 : 2) * c.cluster_m * block_m(c));
    p.n = 8 * between(1, std::max(1, (ctas > 4 ? 1 : 2) * c.cluster_n * c.mma_n / 8));
    p.k = 16 * between(1, 48);
    s.problem = p;
    s.sms = ctas > 4 ? 18 : ctas * between(1, 2);
    s.seed = random_();
    return s;
  }

  std::mt19937_64 random_;
};

}  // namespace

// Batches are test cases of their own, so that they run in parallel.
#define SM100_BLOCKWISE_SWEEP(batch)                                                                      \
  TEST_CASE("random blockwise configurations verify under jitter, batch " #batch, "[sweep][blockwise]") { \
    check_random_scenarios<RandomBlockwise>(211 * batch, kPerBatch);                                      \
  }
SM100_BLOCKWISE_SWEEP(1)
SM100_BLOCKWISE_SWEEP(2)
SM100_BLOCKWISE_SWEEP(3)
SM100_BLOCKWISE_SWEEP(4)
SM100_BLOCKWISE_SWEEP(5)
SM100_BLOCKWISE_SWEEP(6)
SM100_BLOCKWISE_SWEEP(7)
SM100_BLOCKWISE_SWEEP(8)
SM100_BLOCKWISE_SWEEP(9)
SM100_BLOCKWISE_SWEEP(10)
SM100_BLOCKWISE_SWEEP(11)
SM100_BLOCKWISE_SWEEP(12)
SM100_BLOCKWISE_SWEEP(13)
SM100_BLOCKWISE_SWEEP(14)
SM100_BLOCKWISE_SWEEP(15)
SM100_BLOCKWISE_SWEEP(16)
SM100_BLOCKWISE_SWEEP(17)
SM100_BLOCKWISE_SWEEP(18)
SM100_BLOCKWISE_SWEEP(19)
SM100_BLOCKWISE_SWEEP(20)

TEST_CASE("random configurations have no findings with provenance and strict scopes: blockwise",
          "[sweep][explained]") {
  check_explained<RandomBlockwise>();
}
