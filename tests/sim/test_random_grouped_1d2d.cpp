// SPDX-License-Identifier: Apache-2.0
// Every legal grouped 1D-2D configuration computes the right sums and leaves the rest of C alone, whatever the
// groups are: random ones, with full data against float64, with data = none for the identical sequence of barrier
// events, and under jitter for identical numbers.  Four batches are run with the other tests, twenty by hand:
// test_sim "[all_grouped_1d2d]".
#include <algorithm>
#include <random>

#include "catch.h"
#include "kernels/blockwise/host/blockwise_rules.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_rules.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_run.h"
#include "sim/child_process.h"
#include "sim/explained.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kPerBatch = 25;

class RandomTokens {
 public:
  explicit RandomTokens(uint64_t seed) : random_(seed) {}

  /// A legal one: what the rules reject is drawn again.
  Scenario next() {
    for (;;) {
      Scenario s = draw();
      if (host::check_grouped_1d2d(s.problem_as<host::Grouped1d2dProblem>()).empty()) return s;
    }
  }

 private:
  int between(int low, int high) { return low + int(random_() % uint64_t(high - low + 1)); }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return *(of.begin() + between(0, int(of.size()) - 1));
  }

  void draw_config(Grouped1d2dConfig& c) {
    c.dtype = pick({DataType::e4m3, DataType::e4m3, DataType::e5m2});
    c.scale_dtype = pick({DataType::f32, DataType::bf16});
    c.cta_group = c.cluster_m = between(1, 2);
    c.mma_m = pick({64, 128}) * c.cta_group;
    c.mma_n = c.mma_m == 64 && between(0, 1) == 0 ? 8 * between(1, 17) : 16 * between(1, 16);
    c.swizzle = pick({Swizzle::b128, Swizzle::b128, Swizzle::b64});
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f32});
    c.layout =
        pick({TokenLayout::prefix_sum, TokenLayout::prefix_sum, TokenLayout::contiguous, TokenLayout::masked});
    c.scaled = between(0, 2) == 0;
    c.accum_stages = between(1, std::min(4, 512 / c.mma_n));
    c.work_stages = between(0, 1) * between(1, 4);
    c.whole_tiles = c.layout == TokenLayout::contiguous && between(0, 3) == 0;
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.block_swizzle = pick({0, 0, 1, 2, 4, 8});
    c.mma_prefetch = between(0, 1) == 1;
    c.pdl = between(0, 1) == 1;
    c.stages = between(1, std::max(1, host::default_token_stages(c)));
  }

  /// Groups without tokens, of a few, of about a tile and of more than one.
  void draw_groups(host::Grouped1d2dProblem& p) {
    const int groups = between(1, 6), tile = token_rows(p.config);
    p.num_experts = between(1, 8);
    for (int g = 0; g < groups; ++g) {
      p.tokens.push_back(pick({0, between(1, 8), between(1, tile), tile, tile + between(0, tile)}));
      p.experts.push_back(between(0, 4) == 0 ? -1 : between(0, p.num_experts - 1));
    }
    if (p.config.layout == TokenLayout::masked) {
      p.num_experts = groups;
      for (int g = 0; g < groups; ++g) p.experts[size_t(g)] = g;
      p.slot_rows = std::max(1, *std::max_element(p.tokens.begin(), p.tokens.end())) + between(0, 40);
    }
    p.alignment = tile * between(1, 2);
  }

  Scenario draw() {
    Scenario s;
    s.name = "random";
    s.kernel = &host::grouped_1d2d_definition();
    s.profile = "b200";
    s.device = load_profile("b200");
    host::Grouped1d2dProblem p;
    draw_config(p.config);
    draw_groups(p);
    p.n = 8 * between(1, 2 * p.config.mma_n / 8);  // N and K keep the tensor maps' 16-byte strides
    p.k = 16 * between(1, 40);
    s.problem = p;
    s.sms = p.config.cta_group * between(1, 3);
    s.seed = random_();
    return s;
  }

  std::mt19937_64 random_;
};

void run_batch(uint64_t seed) {
  RandomTokens scenarios(seed);
  for (int i = 0; i < kPerBatch; ++i) {
    Scenario s = scenarios.next();
    CAPTURE(s.configuration_json(), s.sms, s.seed);
    const RecordedRun full = record_in_child(s);
    CAPTURE(said(full), full.check.relative_error);
    CHECK(full.outcome == Outcome::pass);
    CHECK(full.verified);
    CHECK(full.warnings.empty());
    s.data = DataMode::none;
    const RecordedRun none = record_in_child(s);
    CHECK(none.outcome == Outcome::pass);
    CHECK(none.cycles == full.cycles);
    CHECK(none.barrier_hash == full.barrier_hash);
    s.data = DataMode::full;
    s.jitter = 1 + s.seed % 1000;
    const RunResult jittered = run_in_child(s);
    CAPTURE(*s.jitter, said(jittered));
    CHECK(jittered.outcome == Outcome::pass);
    CHECK(jittered.warnings.empty());
    CHECK(jittered.output_hash == full.output_hash);
  }
}

constexpr uint64_t kSeedOfBatch = 223;

}  // namespace

// Batches are test cases of their own, so that they run in parallel.
TEST_CASE("random grouped 1D-2D configurations verify under jitter, batch 1", "[sweep][grouped_1d2d]") {
  run_batch(kSeedOfBatch);
}
TEST_CASE("random grouped 1D-2D configurations verify under jitter, batch 2", "[sweep][grouped_1d2d]") {
  run_batch(2 * kSeedOfBatch);
}
TEST_CASE("random grouped 1D-2D configurations verify under jitter, batch 3", "[sweep][grouped_1d2d]") {
  run_batch(3 * kSeedOfBatch);
}
TEST_CASE("random grouped 1D-2D configurations verify under jitter, batch 4", "[sweep][grouped_1d2d]") {
  run_batch(4 * kSeedOfBatch);
}
TEST_CASE("random grouped 1D-2D configurations verify under jitter, batches 5 to 20", "[.][all_grouped_1d2d]") {
  for (uint64_t batch = 5; batch <= 20; ++batch) run_batch(batch * kSeedOfBatch);
}

TEST_CASE("random configurations have no findings with provenance and strict scopes: grouped_1d2d",
          "[sweep][explained]") {
  check_explained<RandomTokens>();
}
