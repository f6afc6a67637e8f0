// SPDX-License-Identifier: Apache-2.0
// Split-K: right results, the same bits whoever computes which split and whenever, and
// what a lock that nobody releases looks like.
#include <set>

#include "catch.h"
#include "matmul_of.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

Scenario split(int splits) {
  Scenario s = load_scenario(scenario_dir() + "/01_dense_small.toml");
  matmul_of(s).m = 384, matmul_of(s).n = 256, matmul_of(s).k = 1024 + 64;  // 17 k tiles
  s.sms = 4;
  matmul_of(s).config.num_split_k = splits;
  return s;
}

uint64_t output_hash(const Scenario& s) {
  const RunResult r = run_in_child(s);
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::pass);
  CHECK(r.verified);
  return r.output_hash;
}

}  // namespace

TEST_CASE("splits give the same bits in every run, under any jitter, on any number of SMs", "[split-k]") {
  std::set<uint64_t> of_all;
  for (int splits : {2, 4, 8}) {
    CAPTURE(splits);
    Scenario s = split(splits);
    if (splits == 8) matmul_of(s).k = 1024;  // 17 k tiles make no 8 splits
    matmul_of(s).config.output = DataType::f32;
    const uint64_t expected = output_hash(s);
    CHECK(output_hash(s) == expected);
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      s.jitter = seed;
      CHECK(output_hash(s) == expected);
    }
    s.jitter = 0;
    for (int sms : {1, 2, 7, 148}) {
      s.sms = sms;
      CHECK(output_hash(s) == expected);
    }
    matmul_of(s).config.static_scheduler = true, matmul_of(s).config.clc_stages = 0;
    for (int sms : {1, 5, 148}) {
      s.sms = sms;
      CHECK(output_hash(s) == expected);
    }
    of_all.insert(expected);
  }
  CHECK(of_all.size() == 3);  // other orders of summation are other bits, or this test shows nothing
}

TEST_CASE("more splits than places: a CTA computes several splits of a tile, in ascending order", "[split-k]") {
  Scenario s = split(3);
  matmul_of(s).m = matmul_of(s).n = 128, s.sms = 1;
  output_hash(s);
}

// The kernel's assumption (kernels/matmul/split_reduction.h): a CTA that waits for an earlier split holds its SM.
TEST_CASE("splits handed out from the last to the first wait for splits that nobody has begun", "[split-k]") {
  Scenario s = split(3);
  matmul_of(s).m = matmul_of(s).n = 128, s.sms = 1;
  s.hand_out_descending = true;
  const RunResult r = run_in_child(s);
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::hang);
  CHECK(finding_of(r).barrier == "locks");
}

TEST_CASE("the static scheduler takes a tile's splits in ascending order, however clusters are launched",
          "[split-k]") {
  Scenario s = split(3);
  matmul_of(s).config.static_scheduler = true, matmul_of(s).config.clc_stages = 0;
  const uint64_t expected = output_hash(s);
  s.hand_out_descending = true;
  CHECK(output_hash(s) == expected);
}

TEST_CASE("without splits no tile waits for another: the order of the hand-out changes nothing", "[split-k]") {
  Scenario s = split(1);
  const uint64_t expected = output_hash(s);
  s.hand_out_descending = true;
  CHECK(output_hash(s) == expected);
}

TEST_CASE("a split whose lock is never released stops all that wait for it, and the report shows the lock",
          "[split-k][report]") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "run " + scenario_dir() +
                                   "/smoke/smoke_06.toml --data none --set "
                                   "'fault=[{instruction=\"st_release_gpu_global_u32\", cta=3, action=\"drop\"}]'");
  CHECK(ran.exit_code == 3);
  // CTA 3 of the first split has tile (3, 0) of 4 columns.
  CHECK_THAT(ran.out, Catch::Contains("locks[12]"));
  CHECK_THAT(ran.out, Catch::Contains("polled, it holds 0, wanted is 4; nobody has stored to it"));
  CHECK_THAT(ran.out,
             Catch::Contains("epilogue of CTA 3 has finished its part of the tile without its store to locks[12]"));
  CHECK_THAT(ran.out, Catch::Contains("epilogue_warp.h:"));
}

TEST_CASE("the time of a split run does not depend on the data", "[split-k]") {
  Scenario s = split(4);
  const RecordedRun full = record_in_child(s);
  s.data = DataMode::none;
  const RecordedRun none = record_in_child(s);
  CHECK(none.outcome == Outcome::pass);
  CHECK(none.cycles == full.cycles);
  CHECK(none.barrier_hash == full.barrier_hash);
}

}  // namespace sm100::sim
