// SPDX-License-Identifier: Apache-2.0
// Every legal grouped 1D-1D configuration computes the right products and leaves the rest of C alone, whatever the
// groups are: 500 random ones, with full data against float64, with data = none for the identical sequence of
// barrier events, and under jitter for identical numbers.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "catch.h"
#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/grouped_1d1d/host/grouped_1d1d_rules.h"
#include "kernels/grouped_1d1d/host/grouped_1d1d_run.h"
#include "sim/child_process.h"
#include "sim/explained.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kPerBatch = 25;

class RandomGroups {
 public:
  explicit RandomGroups(uint64_t seed) : random_(seed) {}

  /// A legal one: what the rules reject is drawn again.
  Scenario next() {
    for (;;) {
      Scenario s = draw();
      if (host::check_grouped_1d1d(s.problem_as<host::Grouped1d1dProblem>()).empty()) return s;
    }
  }

 private:
  int between(int low, int high) { return low + int(random_() % uint64_t(high - low + 1)); }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return *(of.begin() + between(0, int(of.size()) - 1));
  }

  void draw_operands(Grouped1d1dConfig& c) {
    c.format = pick({BlockFormat::mxfp8, BlockFormat::mxfp4, BlockFormat::nvfp4});
    c.dtype = c.format == BlockFormat::mxfp8 ? pick({DataType::e4m3, DataType::e5m2}) : DataType::e2m1;
    c.scale_type = c.format == BlockFormat::nvfp4 ? pick({ScaleType::ue4m3, ScaleType::ue4m3, ScaleType::ue8m0})
                                                  : ScaleType::ue8m0;
    c.mma_k = 32 * 8 / operand_bits(c);
  }

  void draw_config(Grouped1d1dConfig& c) {
    draw_operands(c);
    c.cta_group = c.cluster_m = between(1, 2);
    c.mma_m = 128 * c.cta_group, c.mma_n = pick({64, 128, 192, 256});
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f32});
    c.layout =
        pick({TokenLayout::prefix_sum, TokenLayout::prefix_sum, TokenLayout::contiguous, TokenLayout::masked});
    c.scaled = between(0, 2) == 0;
    c.ab_swapped = between(0, 2) == 0;
    c.accum_stages = between(1, std::min(3, 512 / c.mma_n));
    c.work_stages = between(0, 1) * between(1, 4);
    c.whole_tiles = c.layout == TokenLayout::contiguous && between(0, 3) == 0;
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.block_swizzle = pick({0, 0, 1, 2, 4, 8});
    c.mma_prefetch = between(0, 1) == 1;
    c.pdl = between(0, 1) == 1;
    c.stages = between(1, std::max(1, host::default_grouped_stages(c)));
  }

  /// Groups without tokens, of a few, of about a tile and of more than one.
  void draw_groups(host::Grouped1d1dProblem& p) {
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
    p.alignment = pick({128, 256, 384, 512});
  }

  Scenario draw() {
    Scenario s;
    s.name = "random";
    s.kernel = &host::grouped_1d1d_definition();
    s.profile = "b200";
    s.device = load_profile("b200");
    host::Grouped1d1dProblem p;
    draw_config(p.config);
    draw_groups(p);
    p.n = 8 * between(1, 2 * expert_rows(p.config) / 8);  // N and K keep the tensor maps' 16-byte strides
    p.k = 128 / operand_bits(p.config) * between(1, 24);
    s.problem = p;
    s.sms = p.config.cta_group * between(1, 3);
    s.seed = random_();
    return s;
  }

  std::mt19937_64 random_;
};

void run_batch(uint64_t seed) {
  RandomGroups scenarios(seed);
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
#define SM100_GROUPED_SWEEP(batch)                                                                               \
  TEST_CASE("random grouped 1D-1D configurations verify under jitter, batch " #batch, "[sweep][grouped_1d1d]") { \
    run_batch(211 * batch);                                                                                      \
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

TEST_CASE("random configurations have no findings with provenance and strict scopes: grouped_1d1d",
          "[sweep][explained]") {
  check_explained<RandomGroups>();
}
