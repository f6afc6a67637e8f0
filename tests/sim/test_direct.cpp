// SPDX-License-Identifier: Apache-2.0
// The direct kernel: the right product in every rung of the ladder, its hangs, and the structure of the timeline
// that was measured on B200.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "catch.h"
#include "kernels/direct/host/direct_run.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/explained.h"
#include "sim/program.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

class RandomProducts {
 public:
  explicit RandomProducts(uint64_t seed) : random_(seed) {}

  Scenario next() {
    DirectConfig c;
    c.cta_group = between(1, 2);
    c.roles = c.cta_group == 1 && between(0, 1) ? DirectRoles::one_thread : DirectRoles::specialised;
    if (between(0, 2) == 0) c.roles = DirectRoles::persistent, c.accum_stages = between(1, 2);
    if (between(0, 2) == 0) c.store_bytes = 32;
    c.swizzle = between(0, 2) ? Swizzle::b128 : Swizzle::none;
    c.tma_rank = between(2, 3);
    c.block_n = 16 * c.cta_group * between(1, 256 / 16 / c.cta_group);
    c.block_k = c.swizzle == Swizzle::none ? 16 * between(1, 8) : 64 * between(1, 3);
    c.stages = between(1, std::min(8, int((kSmemBudgetBytes - 1024) / direct_stage_bytes(c))));
    Scenario s;
    s.name = "product";
    s.kernel = &host::direct_definition();
    s.profile = "b200";
    s.device = load_profile("b200");
    host::DirectProblem p{.config = c};
    p.m = direct_mma_m(c) * between(1, 2), p.n = c.block_n * between(1, 3), p.k = c.block_k * between(1, 12);
    s.problem = p;
    s.sms = c.cta_group * between(1, 3);
    s.seed = random_();
    return s;
  }

 private:
  int between(int low, int high) { return low + int(random_() % uint64_t(high - low + 1)); }
  std::mt19937_64 random_;
};

/// What sm100sim says to v5 with a fault.
std::string report(const std::string& fault) {
  ScratchDirectory scratch;
  scratch.write("s.toml",
                "kernel = \"direct\"\nprofile = \"b200\"\n[problem]\nm = 256\nn = 256\nk = 1024\n[run]\nsms = 2\n"
                "[[fault]]\n" +
                    fault);
  const Ran ran = run(scratch, "run s.toml");
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 3);
  return ran.out;
}

void run_batch(uint64_t seed) {
  RandomProducts products(seed);
  for (int i = 0; i < 20; ++i) {
    Scenario s = products.next();
    CAPTURE(s.configuration_json(), s.sms);
    const RecordedRun full = record_in_child(s);
    CAPTURE(said(full), full.check.relative_error);
    CHECK(full.outcome == Outcome::pass);
    CHECK(full.verified);
    CHECK(full.warnings.empty());
    s.jitter = seed + uint64_t(i);
    const RunResult shaken = run_in_child(s);
    CHECK(shaken.outcome == Outcome::pass);
    CHECK(shaken.output_hash == full.output_hash);
    s.jitter.reset();
    s.data = DataMode::none;
    const RecordedRun none = record_in_child(s);
    CHECK(none.cycles == full.cycles);
    CHECK(none.recorded_events == full.recorded_events);
    CHECK(none.barrier_hash == full.barrier_hash);
  }
}

}  // namespace

TEST_CASE("random products of the direct kernel verify, batch 1", "[sweep]") { run_batch(31); }
TEST_CASE("random products of the direct kernel verify, batch 2", "[sweep]") { run_batch(32); }

TEST_CASE("the rungs of the ladder verify and are clean", "[direct]") {
  for (const char* rung : {"v1a", "v1b", "v2a", "v2b", "v3", "v4", "v5", "v6", "v7"}) {
    CAPTURE(rung);
    const RunResult r = run_in_child(load_by_name(std::string("direct/") + rung));
    CAPTURE(said(r));
    CHECK(r.verified);
    CHECK(verdict_of(r) == Verdict::clean);
    CHECK(r.warnings.empty());
  }
}

TEST_CASE("a pair of direct CTAs without an announcement, a copy or a commit: the report names what is missing",
          "[direct]") {
  const std::string armed =
      report("action = \"drop\"\ninstruction = \"mbarrier_arrive_expect_tx\"\ncta = 1\noccurrence = 3\n");
  CHECK_THAT(armed, Catch::Contains("mma (warp 1) of CTA 0 waits for input_full[3] parity 0"));
  CHECK_THAT(armed, Catch::Contains("load (warp 0) of CTA 1"));
  const std::string copy =
      report("action = \"drop\"\ninstruction = \"cp_async_bulk_tensor_shared_global\"\ncta = 1\noccurrence = 4\n");
  CHECK_THAT(copy, Catch::Contains("likely cause: load of CTA 1 has gone on without a copy of 16,384 bytes"));
  const std::string commit =
      report("action = \"drop\"\nrole = \"mma\"\ninstruction = \"tcgen05_commit_multicast\"\noccurrence = 16\n");
  CHECK_THAT(commit, Catch::Contains("accum_full"));
  CHECK_THAT(commit, Catch::Contains("tcgen05.commit of mma (warp 1) of CTA 0"));
}

TEST_CASE("a pair allocates tensor memory together although one of its CTAs starts late", "[direct]") {
  for (const int late : {0, 1}) {
    CAPTURE(late);
    Scenario s = load_by_name("direct/v5");
    s.delays = {{.delay = {.point = {.site = models::JitterSite::cta_start, .cta = late}, .cycles = 20000}}};
    const RunResult r = run_in_child(s);
    CAPTURE(said(r));
    CHECK(r.verified);
    CHECK(verdict_of(r) == Verdict::clean);
    CHECK(r.warnings.empty());
  }
}

TEST_CASE("a direct CTA exits when every commit to its barriers has arrived", "[direct]") {
  // The release of the last stage: nothing but the exit depends on it.
  const std::string last =
      report("action = \"drop\"\nrole = \"mma\"\ninstruction = \"tcgen05_commit_multicast\"\noccurrence = 15\n");
  CHECK_THAT(last, Catch::Contains("load (warp 0) of CTA 0 waits for input_empty["));
  CHECK_THAT(last, Catch::Contains("tcgen05.commit of mma (warp 1) of CTA 0"));
}

TEST_CASE("matmul_v5: the simulation has the measured timeline's events, order, stages and phases",
          "[direct][measured]") {
  const auto file = std::filesystem::path(measured_dir()) / "b200" / "b200_trace_matmul_v5.json.gz";
  if (!std::filesystem::exists(file)) {
    if (std::getenv("SM100_REQUIRE_MEASURED")) FAIL("measured data not found: " << file);
    SM100_SKIP("no measured data in \'" << file << "\': see docs/architecture.md section 8");
  }
  ScratchDirectory scratch;
  const std::string source = source_dir();
  REQUIRE(run(scratch, "import " + file.string() + " --map " + source +
                           "/traces/maps/gau_nernst_matmul_v5.toml -o hardware.pftrace")
              .exit_code == 0);
  REQUIRE(run(scratch, "run " + source + "/scenarios/direct/v5_4096.toml --trace sim.pftrace").exit_code == 0);
  const Ran diff = run(scratch, "diff sim.pftrace hardware.pftrace");
  CAPTURE(diff.err);
  CHECK(diff.exit_code == 0);
  CHECK_THAT(diff.out, Catch::StartsWith("SAME STRUCTURE: 104448 events of 2048 role tracks\n"));
  CHECK(diff.out.find("not compared") == std::string::npos);
}

TEST_CASE("the published ladders are scenarios of whole chips without data, each in the comparison's table",
          "[scenarios]") {
  const std::string table = read_whole(std::filesystem::path(source_dir()) / "bench/ladder.py");
  const auto names = scenario_names("ladder");
  CHECK(names.size() == 30);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Scenario s = load_by_name(name);
    CHECK(s.sms_in_run() == 148);
    CHECK(s.data == DataMode::none);
    CHECK_FALSE(s.description.empty());
    CHECK(table.find("(\"" + name.substr(name.find('/') + 1) + "\", ") != std::string::npos);
  }
}

TEST_CASE("random configurations have no findings with provenance and strict scopes: direct",
          "[sweep][explained]") {
  check_explained<RandomProducts>();
}
