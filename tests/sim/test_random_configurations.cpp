// Every legal configuration computes the right product on every shape: 240 random ones, with full data
// against float64, and with data = none for the identical sequence of barrier events.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "catch.h"
#include "kernels/matmul/shared_storage.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr int kPerBatch = 40;

class RandomScenarios {
 public:
  explicit RandomScenarios(uint64_t seed) : random_(seed) {}

  Scenario next() {
    Scenario s;
    s.name = "random";
    s.kernel = "matmul";
    s.profile = "b200";
    s.device = load_profile("b200");
    MatmulConfig& c = s.config;
    c.mma_m = pick({64, 128});
    const int step = c.mma_m == 64 ? 8 : 16;
    c.mma_n = step * between(1, 256 / step);
    if (between(0, 2) == 0) c.mma_n = pick({16, 32, 64, 128, 256});
    c.swizzle = pick({Swizzle::b128, Swizzle::b64, Swizzle::b32});
    c.output = pick({DataType::bf16, DataType::bf16, DataType::f32});
    c.accum_stages = between(1, std::min(4, 512 / c.mma_n));
    c.clc_stages = between(0, 4);
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.block_swizzle = pick({0, 1, 2, 4, 8});
    c.mma_prefetch = between(0, 1) == 1;
    c.pdl = between(0, 1) == 1;
    int most = max_stages(c);
    while (true) {  // the formula is conservative: the layout may hold one or two more
      MatmulConfig more = c;
      more.stages = most + 1;
      if (shared_storage_bytes(more) > uint32_t(kSmemBudgetBytes)) break;
      ++most;
    }
    c.stages = between(0, 1) ? between(1, std::min(most, 6)) : between(1, most);
    // N and K keep the tensor maps' 16-byte strides; M is free.
    s.m = between(1, 3 * c.mma_m);
    s.n = 8 * between(1, std::max(2, 3 * c.mma_n / 8));
    s.k = 8 * between(1, 48);
    s.sms = between(1, 8);
    s.seed = random_();
    return s;
  }

 private:
  int between(int low, int high) { return low + int(random_() % uint64_t(high - low + 1)); }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return *(of.begin() + between(0, int(of.size()) - 1));
  }
  std::mt19937_64 random_;
};

std::string describe(const Scenario& s) {
  const MatmulConfig& c = s.config;
  return fmt::format(
      "{}x{}x{} mma {}x{} stages {} accum {} clc {} swizzle {} {} on {} SMs raster {} W {} prefetch {} seed "
      "{}",
      s.m, s.n, s.k, c.mma_m, c.mma_n, c.stages, c.accum_stages, c.clc_stages, swizzle_span_bytes(c.swizzle),
      name(c.output), s.sms, int(c.raster_order), c.block_swizzle, c.mma_prefetch, s.seed);
}

void run_batch(uint64_t seed) {
  RandomScenarios scenarios(seed);
  for (int i = 0; i < kPerBatch; ++i) {
    Scenario s = scenarios.next();
    CAPTURE(describe(s));
    const ChildResult full = run_child(s, true);
    REQUIRE(full.ran);
    CAPTURE(full.text, full.relative_error);
    CHECK(full.result() == Outcome::pass);
    CHECK(full.verified);
    CHECK(full.barrier_events > 0);
    s.data = DataMode::none;
    const ChildResult none = run_child(s, true);
    REQUIRE(none.ran);
    CHECK(none.result() == Outcome::pass);
    CHECK(none.cycles == full.cycles);
    CHECK(none.barrier_events == full.barrier_events);
    CHECK(none.barrier_hash == full.barrier_hash);
  }
}

}  // namespace

// Batches are test cases of their own, so that they run in parallel.
TEST_CASE("random configurations verify and barrier traces do not depend on data, batch 1", "[sweep]") {
  run_batch(101);
}
TEST_CASE("random configurations verify and barrier traces do not depend on data, batch 2", "[sweep]") {
  run_batch(202);
}
TEST_CASE("random configurations verify and barrier traces do not depend on data, batch 3", "[sweep]") {
  run_batch(303);
}
TEST_CASE("random configurations verify and barrier traces do not depend on data, batch 4", "[sweep]") {
  run_batch(404);
}
TEST_CASE("random configurations verify and barrier traces do not depend on data, batch 5", "[sweep]") {
  run_batch(505);
}
TEST_CASE("random configurations verify and barrier traces do not depend on data, batch 6", "[sweep]") {
  run_batch(606);
}

TEST_CASE("any jitter seed gives the same numbers, and the same seed the same run", "[sweep]") {
  RandomScenarios scenarios(7);
  for (int i = 0; i < 6; ++i) {
    Scenario s = scenarios.next();
    CAPTURE(describe(s));
    const ChildResult plain = run_child(s, true);
    REQUIRE(plain.ran);
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      s.jitter = seed;
      const ChildResult jittered = run_child(s, true), again = run_child(s, true);
      REQUIRE(jittered.ran);
      CAPTURE(seed, jittered.text);
      CHECK(jittered.result() == Outcome::pass);
      CHECK(jittered.output_hash == plain.output_hash);
      CHECK(again.barrier_hash == jittered.barrier_hash);
      CHECK(again.cycles == jittered.cycles);
    }
  }
}
