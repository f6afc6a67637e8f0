// Hangs of CTA pairs: the report shows the CTA whose waits explain the most, and names the peer that owes something.

#include "catch.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

std::string report(const std::string& fault) {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "run " SM100_SCENARIO_DIR "/pairs.toml --data none --set 'fault=[{" + fault + "}]'");
  CHECK(ran.exit_code == 3);
  return ran.out;
}

}  // namespace

TEST_CASE("a pair's stage lacks the odd CTA's share: the leader's barrier misses its bytes", "[pair][report]") {
  const std::string text = report(
      "instruction=\"cp_async_bulk_tensor_shared_global\", role=\"load\", cta=1, occurrence=3, action=\"drop\"");
  CHECK_THAT(text, Catch::Contains("of CTA 0 can never wake"));
  CHECK_THAT(text, Catch::Contains("bytes missing from: CTA 1"));
  CHECK_THAT(text,
             Catch::Contains("likely cause: input_full[1] of CTA 0 misses 16,384 bytes that CTA 1 loads into it"));
}

TEST_CASE("a pair's accumulator is never handed over: the leader is shown, not the peer that waits too",
          "[pair][report]") {
  const std::string text =
      report("instruction=\"tcgen05_commit_multicast\", role=\"mma\", barrier=\"accum_full\", action=\"drop\"");
  CHECK_THAT(text, Catch::Contains("of CTA 0 can never wake"));
  CHECK_THAT(text, Catch::Contains("likely cause: mma has acquired 2 stages of accum_full but filled 0"));
}

TEST_CASE("a forgotten release of a pair's stage is blamed on the leader's MMA warp", "[pair][report]") {
  const std::string text = report(
      "instruction=\"tcgen05_commit_multicast\", role=\"mma\", barrier=\"input_empty\", stage=2, action=\"drop\"");
  CHECK_THAT(text, Catch::Contains("mma has passed input_full[2] phase 0 without releasing it"));
}

}  // namespace sm100::sim
