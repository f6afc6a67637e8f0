// SPDX-License-Identifier: Apache-2.0
// pipeline_copy moves every byte whatever its configuration: random legal ones, with clusters and multicast, each
// also without data for the identical sequence of barrier events and under jitter for identical bytes.
#include <fmt/format.h>

#include <random>

#include "catch.h"
#include "kernels/copy/host/copy_run.h"
#include "kernels/copy/shared_storage.h"
#include "sim/child_process.h"
#include "sim/explained.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

class RandomCopies {
 public:
  explicit RandomCopies(uint64_t seed) : random_(seed) {}

  host::Scenario next() {
    host::Scenario s;
    s.name = "random";
    s.kernel = &host::pipeline_copy_definition();
    s.profile = "h200";
    s.device = host::load_profile("h200");
    host::CopyProblem p;
    CopyConfig& c = p.config;
    c.tile_m = pick({64, 128});
    c.swizzle = pick({Swizzle::b128, Swizzle::b64, Swizzle::b32});
    c.k_group_size = pick({1, 1, 2, 4});
    c.cluster = pick({1, 2, 4, 8});
    c.multicast = c.cluster > 1 && between(0, 2) > 0;
    c.raster_order = pick({RasterOrder::along_m, RasterOrder::along_n});
    c.tile_n = copy_block_k(c) * c.k_group_size * between(1, 4);
    c.stages = c.k_group_size * between(1, std::max(1, 10 / c.k_group_size));
    while (storage_bytes<CopyStorage>(c) > uint32_t(kSmemBudgetBytes)) c.stages -= c.k_group_size;
    p.m = between(1, 5 * c.tile_m);
    p.n = 8 * between(1, std::max(2, 4 * c.tile_n / 8));
    s.problem = p;
    s.sms = c.cluster * between(1, 3);
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

std::string describe(const host::Scenario& s) { return s.configuration_json() + fmt::format(" on {} SMs", s.sms); }

void run_batch(uint64_t seed) {
  RandomCopies copies(seed);
  for (int i = 0; i < 30; ++i) {
    host::Scenario s = copies.next();
    CAPTURE(describe(s));
    const RecordedRun full = record_in_child(s);
    CAPTURE(said(full));
    CHECK(full.outcome == Outcome::pass);
    CHECK(full.verified);
    CHECK(full.recorded_events > 0);
    s.jitter = seed + uint64_t(i);
    const RunResult shaken = run_in_child(s);
    CHECK(shaken.verified);
    CHECK(shaken.output_hash == full.output_hash);
    s.jitter.reset();
    s.data = host::DataMode::none;
    const RecordedRun none = record_in_child(s);
    CHECK(none.cycles == full.cycles);
    CHECK(none.barrier_hash == full.barrier_hash);
  }
}

}  // namespace

TEST_CASE("a multicast stage that lacks a peer's share: the report shows the CTA at fault", "[copy]") {
  const auto report = [](const std::string& fault) {
    ScratchDirectory scratch;
    scratch.write("s.toml",
                  "kernel = \"pipeline_copy\"\nprofile = \"h200\"\n[problem]\nm = 300\nn = 520\n[config]\n"
                  "cluster = 2\nmulticast = true\nstages = 4\n[run]\nsms = 2\n[[fault]]\nrole = \"load\"\n"
                  "cta = 1\n" +
                      fault);
    return run(scratch, "run s.toml").out;
  };
  const std::string turned =
      report("instruction = \"mbarrier_try_wait_parity\"\naction = \"flip_parity\"\noccurrence = 0\n");
  CHECK_THAT(turned, Catch::Contains("load (warp 4) of CTA 1 waits for input_empty[0] parity 0"));
  CHECK_THAT(turned, Catch::Contains("likely cause: load waits for the release of a fill that it never made"));
  const std::string dropped =
      report("instruction = \"cp_async_bulk_tensor_shared_global_multicast\"\naction = \"drop\"\noccurrence = 1\n");
  CHECK_THAT(dropped, Catch::Contains("likely cause: load of CTA 1 has gone on without a copy of 8,192 bytes into "
                                      "stage 1: input_full[1] of CTA 0 misses them"));
}

TEST_CASE("random copies move every byte, batch 1", "[sweep]") { run_batch(11); }
TEST_CASE("random copies move every byte, batch 2", "[sweep]") { run_batch(12); }
TEST_CASE("random copies move every byte, batch 3", "[sweep]") { run_batch(13); }

TEST_CASE("random configurations have no findings with provenance and strict scopes: pipeline_copy",
          "[sweep][explained]") {
  check_explained<RandomCopies>();
}
