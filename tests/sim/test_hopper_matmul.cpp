// SPDX-License-Identifier: Apache-2.0
// hopper_matmul multiplies right whatever its configuration: random legal ones, also without data for the identical
// sequence of barrier events and under jitter for identical bits.
#include <fmt/format.h>

#include <random>

#include "catch.h"
#include "kernels/hopper_matmul/host/hopper_matmul_run.h"
#include "kernels/hopper_matmul/shared_storage.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/explained.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

class RandomProducts {
 public:
  explicit RandomProducts(uint64_t seed) : random_(seed) {}

  host::Scenario next() {
    host::Scenario s;
    s.name = "random";
    s.kernel = &host::hopper_matmul_definition();
    s.profile = "h200";
    s.device = host::load_profile("h200");
    s.registers = kHopperLaunchRegisters;
    host::HopperMatmulProblem p;
    HopperMatmulConfig& c = p.config;
    c.dtype = pick({DataType::bf16, DataType::bf16, DataType::f16, DataType::e4m3, DataType::e5m2});
    c.output = pick({DataType::bf16, DataType::f16, DataType::f32});
    c.schedule = pick({HopperSchedule::cooperative, HopperSchedule::pingpong});
    c.block_n = c.mma_n = pick({32, 64, 128, 256});
    c.cluster = pick({1, 1, 2, 4});
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.stages = between(2, 7);
    while (storage_bytes<HopperStorage>(c) > uint32_t(kSmemBudgetBytes)) --c.stages;
    p.m = between(1, 5 * hopper_block_m(c));
    p.n = 8 * between(1, 3 * c.block_n / 8);
    p.k = 16 * between(1, 5 * hopper_block_k(c) / 16);
    s.problem = p;
    s.sms = c.cluster * between(1, 3);
    s.seed = random_();
    s.numerics = pick({host::Numerics::fast, host::Numerics::b200});
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

void run_batch(uint64_t seed) {
  RandomProducts products(seed);
  for (int i = 0; i < 15; ++i) {
    host::Scenario s = products.next();
    CAPTURE(s.configuration_json(), s.sms, s.numerics == host::Numerics::b200);
    const RecordedRun full = record_in_child(s);
    CAPTURE(said(full));
    CHECK(full.outcome == Outcome::pass);
    CHECK(full.verified);
    CHECK(full.warnings.empty());
    s.jitter = seed + uint64_t(i);
    const RunResult shaken = run_in_child(s);
    CHECK(shaken.outcome == Outcome::pass);
    CHECK(shaken.output_hash == full.output_hash);
    s.jitter.reset();
    s.data = host::DataMode::none;
    const RecordedRun none = record_in_child(s);
    CHECK(none.cycles == full.cycles);
    CHECK(none.barrier_hash == full.barrier_hash);
  }
}

std::string refused(const std::string& set) {
  const ScratchDirectory here;
  const Ran ran = run(here, "run '" + source_dir() + "/scenarios/hopper/cooperative.toml' --set " + set);
  CHECK(ran.exit_code == 2);
  CHECK(ran.out.empty());
  return ran.err;
}

}  // namespace

TEST_CASE("hopper_matmul: random configurations, first batch", "[hopper]") { run_batch(1); }
TEST_CASE("hopper_matmul: random configurations, second batch", "[hopper]") { run_batch(2); }
TEST_CASE("hopper_matmul: random configurations, third batch", "[hopper]") { run_batch(3); }

// Counted on an H200 (docs/silicon.md): requests of multicast boxes are those of one CTA, and not merged with other
// clusters'.  Two clusters of two have the same B at the same time: 8 k tiles of 16 KiB of A for each CTA and of 32
// KiB of B for each cluster, twice.
TEST_CASE("hopper_matmul: L2 is asked for what multicast boxes need", "[hopper]") {
  const RunResult result =
      run_in_child(host::load_scenario(scenario_dir() + "/hopper/cooperative_cluster.toml", {"run.data=none"}));
  CHECK(result.l2_read_bytes == 2 * 8 * (4 * 16 + 2 * 32) * 1024);
}

TEST_CASE("hopper_matmul: a value that does not fit is refused in a sentence", "[hopper]") {
  CHECK_THAT(refused("config.block_n=96"), Catch::Contains("allowed are 32, 64, 128, 256 (N of wgmma.mma_async)"));
  CHECK_THAT(refused("config.stages=1"), Catch::Contains("allowed are 2 to 6"));
  CHECK_THAT(refused("config.stages=99"), Catch::Contains("allowed are 2 to 6 (32768 bytes each"));
  CHECK_THAT(refused("config.cluster=3"), Catch::Contains("allowed are 1, 2, 4"));
  CHECK_THAT(refused("problem.k=12"), Catch::Contains("allowed are multiples of 8 from 8"));
  CHECK_THAT(refused("'profile=\"b200\"'"), Catch::Contains("needs a device with wgmma (sm_90a)"));
}

TEST_CASE("random configurations have no findings with provenance and strict scopes: hopper_matmul",
          "[sweep][explained]") {
  check_explained<RandomProducts>();
}
