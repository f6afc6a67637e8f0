// SPDX-License-Identifier: Apache-2.0
// Loads from global memory that follow each other: the first three can be waited for one by one, all others only
// together, because a warp has six scoreboards and ptxas gives these one.
#include <fmt/format.h>

#include <string>

#include "catch.h"
#include "run_ptx.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// Cycles of a warp that loads five words, some time apart, and then waits for one of them.
uint64_t cycles_until(int waits_for) {
  std::string body;
  for (int load = 1; load <= 5; ++load) {
    body += fmt::format("\tld.global.u32 %r{}, [%rd1+{}];\n", load, 4 * load);
    for (int i = 0; i < 200; ++i) body += "\tmad.lo.u32 %r8, %r8, %r9, %r9;\n";
  }
  const RunResult result = run_ptx(fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry loads(.param .u64 memory)
.reqntid 32
{{
	.reg .b32 %r<16>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b32 word;
	ld.param.u64 %rd1, [memory];
	mov.u32 %r7, word;
	mov.u32 %r8, 1;
	mov.u32 %r9, 3;
{}	st.shared.u32 [%r7], %r{};
	ret;
}}
)",
                                               body, waits_for),
                                   1, {"zeros"});
  INFO(result.report);
  REQUIRE(result.outcome == Outcome::pass);
  return result.cycles;
}

}  // namespace

TEST_CASE("Of loads that follow each other, all but the first three are waited for together") {
  const uint64_t first = cycles_until(1), third = cycles_until(3), fourth = cycles_until(4),
                 fifth = cycles_until(5);
  CHECK(first <= third);
  CHECK(third + 100 < fourth);  // the fifth is issued 200 cycles after the fourth
  CHECK(fourth == fifth);
}
