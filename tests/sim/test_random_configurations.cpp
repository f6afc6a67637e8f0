// SPDX-License-Identifier: Apache-2.0
// Every legal configuration computes the right product on every shape: 520 random ones, with full data against
// float64, with data = none for the identical sequence of barrier events, and under two jitter seeds of its own for
// identical numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "catch.h"
#include "kernels/matmul/host/config_rules.h"
#include "matmul_of.h"
#include "sim/child_process.h"
#include "sim/explained.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kPerBatch = 40;

class RandomScenarios {
 public:
  explicit RandomScenarios(uint64_t seed) : random_(seed) {}

  /// A legal one: what the rules reject is drawn again.
  Scenario next() {
    for (;;) {
      Scenario s = draw();
      if (check_config(matmul_of(s).config, matmul_of(s).m, matmul_of(s).n, matmul_of(s).k).empty()) return s;
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
    s.kernel = &host::matmul_definition();
    s.problem = host::MatmulProblem{};
    s.profile = "b200";
    s.device = load_profile("b200");
    MatmulConfig& c = matmul_of(s).config;
    c.cta_group = between(1, 2);
    const std::pair<int, int> cluster = pick<std::pair<int, int>>(
        {{1, 1}, {1, 1}, {2, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}, {2, 4}, {4, 4}, {8, 2}});
    c.cluster_m = cluster.first, c.cluster_n = cluster.second;
    c.k_group_size = pick({1, 1, 1, 2, 4});
    c.mma_m = c.cta_group * pick({64, 128});
    const int step = c.mma_m == 64 ? 8 : 16;
    c.mma_n = step * between(1, 256 / step);
    if (between(0, 2) == 0) c.mma_n = pick({16, 32, 64, 128, 256});
    c.swizzle = pick({Swizzle::b128, Swizzle::b64, Swizzle::b32});
    c.dtype = pick({DataType::bf16, DataType::bf16, DataType::f16, DataType::tf32, DataType::e4m3, DataType::e5m2});
    c.mma_k = 32 / operand_bytes(c);
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f16, DataType::f32, DataType::e4m3, DataType::e5m2});
    c.ab_swapped = between(0, 2) == 0;
    c.accum_stages = between(1, std::min(4, 512 / c.mma_n));
    c.bias = between(0, 3) == 0, c.residual = between(0, 3) == 0;
    c.activation = pick({Activation::none, Activation::none, Activation::relu, Activation::silu});
    if (between(0, 3) == 0) c.scaled = true, matmul_of(s).alpha = 0.75f;
    matmul_of(s).beta = -1.5f;
    c.register_epilogue = between(0, 2) != 0;
    c.static_scheduler = between(0, 3) == 0;
    c.clc_stages = c.static_scheduler ? 0 : between(0, 4);
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.block_swizzle = pick({0, 1, 2, 4, 8});
    c.mma_prefetch = between(0, 1) == 1;
    c.num_split_k = pick({1, 1, 1, 2, 3, 4});
    c.pdl = c.num_split_k == 1 && between(0, 1) == 1;
    c.stages = c.k_group_size;
    const int most = std::max(1, fitting_stages(c) / c.k_group_size);
    c.stages = c.k_group_size * (between(0, 1) ? between(1, std::min(most, 6)) : between(1, most));
    // N and K keep the tensor maps' 16-byte strides; M is free.
    const int ctas = c.cluster_m * c.cluster_n;
    matmul_of(s).m = between(1, (ctas > 4 ? 2 : 3) * c.cluster_m * c.mma_m / c.cta_group);
    matmul_of(s).n = 8 * between(1, std::max(2, (ctas > 4 ? 2 : 3) * c.cluster_n * c.mma_n / 8));
    if (c.ab_swapped) std::swap(matmul_of(s).m, matmul_of(s).n), matmul_of(s).n = (matmul_of(s).n + 7) / 8 * 8;
    matmul_of(s).k = 8 * between(1, 48);
    s.sms = ctas > 4 ? 18 * between(1, 2) : ctas * between(1, 3);
    s.seed = random_();
    return s;
  }

  std::mt19937_64 random_;
};

std::string describe(const Scenario& s) {
  return s.configuration_json() + fmt::format(" on {} SMs, seed {}", s.sms, s.seed);
}

/// More than the usual two with SM100_SWEEP_SEEDS.
uint64_t jitter_seeds() {
  const char* seeds = std::getenv("SM100_SWEEP_SEEDS");
  return seeds ? std::strtoull(seeds, nullptr, 10) : 2;
}

void run_batch(uint64_t seed) {
  RandomScenarios scenarios(seed);
  for (int i = 0; i < kPerBatch; ++i) {
    Scenario s = scenarios.next();
    CAPTURE(describe(s));
    const RecordedRun full = record_in_child(s);
    CAPTURE(said(full), full.check.relative_error);
    CHECK(full.outcome == Outcome::pass);
    CHECK(full.verified);
    CHECK(full.recorded_events > 0);
    CHECK(full.warnings.empty());
    s.data = DataMode::none;
    const RecordedRun none = record_in_child(s);
    CHECK(none.outcome == Outcome::pass);
    CHECK(none.cycles == full.cycles);
    CHECK(none.recorded_events == full.recorded_events);
    CHECK(none.barrier_hash == full.barrier_hash);
    s.data = DataMode::full;
    const uint64_t first = 1 + s.seed % 1000;
    for (uint64_t seed = first; seed < first + jitter_seeds(); ++seed) {
      s.jitter = seed;
      const RunResult jittered = run_in_child(s);
      CAPTURE(seed, said(jittered));
      CHECK(jittered.outcome == Outcome::pass);
      CHECK(jittered.warnings.empty());
      CHECK(jittered.output_hash == full.output_hash);
    }
  }
}

}  // namespace

// Batches are test cases of their own, so that they run in parallel.
#define SM100_SWEEP(batch)                                                                                     \
  TEST_CASE(                                                                                                   \
      "random configurations verify under any jitter and barrier traces do not depend on data, batch " #batch, \
      "[sweep]") {                                                                                             \
    run_batch(101 * batch);                                                                                    \
  }
SM100_SWEEP(1)
SM100_SWEEP(2)
SM100_SWEEP(3)
SM100_SWEEP(4)
SM100_SWEEP(5)
SM100_SWEEP(6)
SM100_SWEEP(7)
SM100_SWEEP(8)
SM100_SWEEP(9)
SM100_SWEEP(10)
SM100_SWEEP(11)
SM100_SWEEP(12)
SM100_SWEEP(13)

TEST_CASE("the same jitter seed gives the same run", "[sweep]") {
  RandomScenarios scenarios(7);
  for (int i = 0; i < 6; ++i) {
    Scenario s = scenarios.next();
    CAPTURE(describe(s));
    s.jitter = 3;
    const RecordedRun once = record_in_child(s), again = record_in_child(s);
    CHECK(again.barrier_hash == once.barrier_hash);
    CHECK(again.cycles == once.cycles);
  }
}

TEST_CASE("random configurations have no findings with provenance and strict scopes: the dense matmul",
          "[sweep][explained]") {
  check_explained<RandomScenarios>();
}
