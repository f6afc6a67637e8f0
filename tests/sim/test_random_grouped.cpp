// SPDX-License-Identifier: Apache-2.0
// Every legal configuration of the grouped block-scaled matmul computes the right products on every list of groups:
// 200 random ones, with full data against float64, with data = none for the identical sequence of barrier events,
// and under jitter for identical numbers.  300 more run only where they are asked for:
// test_sim "[all_grouped_block_scaled]".
#include <random>

#include "catch.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_rules.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_run.h"
#include "sim/child_process.h"
#include "sim/explained.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kPerBatch = 10;

class RandomGrouped {
 public:
  explicit RandomGrouped(uint64_t seed) : random_(seed) {}

  /// A legal one: what the rules reject is drawn again.
  Scenario next() {
    for (;;) {
      Scenario s = draw();
      const auto& p = s.problem_as<host::GroupedBlockScaledProblem>();
      if (host::check_grouped(p.config, p.groups).empty()) return s;
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
    s.kernel = &host::grouped_block_scaled_definition();
    s.profile = "b200";
    s.device = load_profile("b200");
    host::GroupedBlockScaledProblem p;
    GroupedBlockScaledConfig& c = p.config;
    c.format = pick({BlockFormat::mxfp8, BlockFormat::mxfp4, BlockFormat::nvfp4});
    c.dtype = c.format == BlockFormat::mxfp8 ? pick({DataType::e4m3, DataType::e5m2}) : DataType::e2m1;
    c.scale_type = c.format == BlockFormat::nvfp4 ? ScaleType::ue4m3 : ScaleType::ue8m0;
    c.mma_k = 32 * 8 / operand_bits(c);
    c.cta_group = c.cluster_m = between(1, 2);
    c.mma_m = 128 * c.cta_group, c.mma_n = pick({64, 128, 192, 256});
    if (between(0, 2) == 0) c.mma_n = 8 * c.cta_group * between(1, 7 / c.cta_group);  // warps store the scales of B
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f32});
    if (between(0, 3) == 0) c.scaled = true, p.alpha = 0.75f;
    c.accum_stages = between(1, c.mma_n > 128 ? 1 : 2);
    c.mma_prefetch = between(0, 1) == 1;
    c.map_edits = pick({MapEdits::shared, MapEdits::global});
    c.stages = 1;
    c.stages = between(1, std::max(1, host::default_grouped_stages(c)));
    c.map_slots = enough_map_slots(c) + between(0, 1);
    for (int groups = between(1, 9); groups > 0; --groups) {
      const int m = between(0, 5) == 0 ? 0 : between(1, 3 * 128);
      const int k = between(0, 6) == 0 ? 0 : 128 / operand_bits(c) * between(1, 24);
      p.groups.push_back({m, 8 * between(0, 40), k});
    }
    s.problem = p;
    s.sms = c.cta_group * between(1, 3);
    s.seed = random_();
    return s;
  }

  std::mt19937_64 random_;
};

void run_batch(uint64_t seed) {
  RandomGrouped scenarios(seed);
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

}  // namespace

// Batches are test cases of their own, so that they run in parallel.
#define SM100_GROUPED_SWEEP(batch)                                                                                 \
  TEST_CASE("random grouped configurations verify under jitter, batch " #batch, "[sweep][grouped_block_scaled]") { \
    run_batch(107 * batch);                                                                                        \
  }
SM100_GROUPED_SWEEP(1)
SM100_GROUPED_SWEEP(2)
SM100_GROUPED_SWEEP(3)
SM100_GROUPED_SWEEP(4)
SM100_GROUPED_SWEEP(5)
SM100_GROUPED_SWEEP(6)
SM100_GROUPED_SWEEP(7)
SM100_GROUPED_SWEEP(8)
SM100_GROUPED_SWEEP(9)
SM100_GROUPED_SWEEP(10)
SM100_GROUPED_SWEEP(11)
SM100_GROUPED_SWEEP(12)
SM100_GROUPED_SWEEP(13)
SM100_GROUPED_SWEEP(14)
SM100_GROUPED_SWEEP(15)
SM100_GROUPED_SWEEP(16)
SM100_GROUPED_SWEEP(17)
SM100_GROUPED_SWEEP(18)
SM100_GROUPED_SWEEP(19)
SM100_GROUPED_SWEEP(20)

TEST_CASE("random grouped configurations verify under jitter, batches 21 to 50", "[.][all_grouped_block_scaled]") {
  for (uint64_t batch = 21; batch <= 50; ++batch) run_batch(107 * batch);
}

TEST_CASE("random configurations have no findings with provenance and strict scopes: grouped_block_scaled",
          "[sweep][explained]") {
  check_explained<RandomGrouped>();
}
