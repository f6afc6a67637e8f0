// Hangs of CTA pairs: the report names the CTA that owes something.

#include "catch.h"
#include "paths.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

std::string report(const std::string& fault) {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "run " + scenario_dir() + "/pairs.toml --data none --set 'fault=[{" + fault + "}]'");
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

}  // namespace sm100::sim
