// SPDX-License-Identifier: Apache-2.0
// Hangs of CTA pairs: the report names the CTA that owes something.

#include "catch.h"
#include "paths.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

std::string report(const std::string& fault, const std::string& sets = "") {
  ScratchDirectory scratch;
  const Ran ran = run(
      scratch, "run " + scenario_dir() + "/13_pairs.toml --data none " + sets + " --set 'fault=[{" + fault + "}]'");
  CHECK(ran.exit_code == 3);
  return ran.out;
}

}  // namespace

TEST_CASE("a pair's stage lacks the odd CTA's share: the leader's barrier misses its bytes", "[pair][report]") {
  const std::string text = report(
      "instruction=\"cp_async_bulk_tensor_shared_global\", role=\"load\", cta=1, occurrence=3, action=\"drop\"");
  CHECK_THAT(text, Catch::Contains("mma (warp 6) of CTA 0 waits for input_full[1] parity 0"));
  CHECK_THAT(text, Catch::Contains("copies of load (warp 5) of CTA 1\n"));
  CHECK_THAT(text,
             Catch::Contains("likely cause: load of CTA 1 has gone on without a copy of 16,384 bytes into stage "
                             "1: input_full[1] of CTA 0 misses them"));
}

TEST_CASE("a pair's accumulator is never handed over: the leader is shown, not the peer that waits too",
          "[pair][report]") {
  const std::string text =
      report("instruction=\"tcgen05_commit_multicast\", role=\"mma\", barrier=\"accum_full\", action=\"drop\"");
  CHECK_THAT(text,
             Catch::Contains("likely cause: mma of CTA 0 has acquired stage 0 for phase 0 without filling it: its "
                             "tcgen05.commit on accum_full[0] of CTA 0 is missing"));
}

TEST_CASE("a forgotten release of a pair's stage is blamed on the leader's MMA warp", "[pair][report]") {
  const std::string text = report(
      "instruction=\"tcgen05_commit_multicast\", role=\"mma\", barrier=\"input_empty\", stage=2, action=\"drop\"");
  CHECK_THAT(text, Catch::Contains("mma of CTA 0 has passed input_full[2] phase 0 without releasing it"));
}

namespace {

/// Two pairs in a cluster of four: CTAs 0 and 2 lead.
constexpr const char* kTwoPairs = "--set config.cluster=[4,1,1]";
constexpr const char* kArm = "role=\"load\", instruction=\"mbarrier_arrive_expect_tx\", barrier=\"input_full\"";

}  // namespace

TEST_CASE("bytes that every leader's expect_tx counts too many are its fault, not a missing copy's",
          "[pair][report]") {
  struct Much {
    int bytes;
    const char* cause;
  };
  const Much all[] = {
      {16,
       "expect_tx counts 16 bytes more than the copies of this phase deliver, as of every fill like it: a copy "
       "is missing in all of them, or 65,552 is too much"},
      {8,
       "expect_tx counts 8 bytes more than the copies of this phase deliver: the smallest copy to input_full "
       "brings "
       "8,192, so none is missing"},
      {16384,
       "expect_tx counts 16,384 bytes more than the copies of this phase deliver, as of every fill like it: a copy "
       "is missing in all of them, or 81,920 is too much"},
      {65536,
       "expect_tx counts 131,072 bytes, 2 times the 65,536 that the copies of this phase deliver, as of every fill "
       "like it: a copy is missing in all of them, or it counts copies of another barrier"},
      {196608,
       "expect_tx counts 262,144 bytes, 4 times the 65,536 that the copies of this phase deliver: it counts them "
       "once for each CTA of the cluster"}};
  for (const Much& m : all) {
    CAPTURE(m.bytes);
    const std::string text =
        report(std::string(kArm) + ", action=\"add\", value=" + std::to_string(m.bytes), kTwoPairs);
    CAPTURE(text);
    CHECK_THAT(text, Catch::Contains("likely cause: " + std::string(m.cause) + "\n"));
    CHECK_THAT(text, Catch::Contains("at fault: load (warp 5) of CTA 0  load_warp.h:73;"));
  }
}

TEST_CASE("a copy that one CTA of two pairs leaves out is still a missing copy", "[pair][report]") {
  const std::string text =
      report("instruction=\"cp_async_bulk_tensor_shared_global_multicast\", role=\"load\", cta=3, action=\"drop\"",
             kTwoPairs);
  CAPTURE(text);
  CHECK_THAT(text, Catch::Contains("at fault: load (warp 5) of CTA 3"));
  CHECK_THAT(text, !Catch::Contains("expect_tx counts"));
}

TEST_CASE("an arrival at a CTA where nobody waits is found there, also when its warp has exited",
          "[pair][report]") {
  const std::string gone =
      report("instruction=\"mbarrier_arrive\", barrier=\"accum_empty\", cta=3, occurrence=1, action=\"own_cta\"",
             kTwoPairs);
  CAPTURE(gone);
  CHECK_THAT(gone,
             Catch::Contains("likely cause: epilogue of CTA 3 arrives on accum_empty[1] of its own CTA, where "
                             "nobody waits; CTA 2 waits for it\n"));
  const std::string third =
      report("instruction=\"mapa\", cta=1, action=\"add\", operand=\"rank\", value=2", kTwoPairs);
  CAPTURE(third);
  CHECK_THAT(third, Catch::Contains("likely cause: mma of CTA 1 arrives on clc_empty[0] of CTA 2, where nobody "
                                    "waits; CTA 0 waits for it\n"));
}

}  // namespace sm100::sim
