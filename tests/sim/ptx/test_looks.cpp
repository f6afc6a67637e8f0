// SPDX-License-Identifier: Apache-2.0
// A try_wait that no loop repeats: how long it suspends whom, and what it answers (measured on the H200: a whole
// warp 3.95 us, one lane 99 cycles).
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// Warp 0 arrives after `delay` nanoseconds; warp 1 looks once and traps unless it sees `expected` (a predicate of
/// %p3, the answer, and %r7, the cycles it took).
RunResult looked(int delay, const std::string& look, const std::string& expected, const std::string& run = "") {
  ScratchDirectory folder;
  folder.write("k.ptx",
               fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry looks()
.reqntid 64
{{
	.reg .pred %p<8>;
	.reg .b32 %r<12>;
	.shared .align 8 .b64 bar;
	mov.u32 %r1, %tid.x;
	mov.u32 %r3, bar;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra READY;
	mbarrier.init.shared::cta.b64 [%r3], 1;
	fence.mbarrier_init.release.cluster;
READY:
	bar.sync 0;
	setp.ge.u32 %p1, %r1, 32;
	@%p1 bra LOOKS;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra END;
	nanosleep.u32 {delay};
	mbarrier.arrive.shared::cta.b64 _, [%r3];
	bra END;
LOOKS:
	mov.u32 %r5, %clock;
	{look}
	mov.u32 %r6, %clock;
	sub.u32 %r7, %r6, %r5;
	{expected}
	@!%p5 trap;
END:
	ret;
}}
)",
                           fmt::arg("delay", delay), fmt::arg("look", look), fmt::arg("expected", expected)));
  return run_in_child(host::load_scenario(
      folder.write("k.toml",
                   "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n"
                   "[[problem.tensor]]\nname = \"none\"\ntype = \"u8\"\nshape = [16]\ncontents = \"zeros\"\n"
                   "[run]\nsms = 1\n" +
                       run)));
}

const std::string kLook = "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;";

void check_sees(int delay, const std::string& look, const std::string& expected) {
  const RunResult result = looked(delay, look, expected);
  INFO(expected);
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
}

}  // namespace

TEST_CASE("A look of a whole warp suspends until the phase completes") {
  check_sees(1000, kLook, "setp.gt.and.u32 %p5, %r7, 1500, %p3;");
  check_sees(1000, kLook, "setp.lt.and.u32 %p5, %r7, 3000, %p3;");
}

TEST_CASE("A look of a whole warp gives up at the limit") {
  check_sees(6000, kLook, "not.pred %p3, %p3; setp.gt.and.u32 %p5, %r7, 7000, %p3;");
  check_sees(6000, kLook, "not.pred %p3, %p3; setp.lt.and.u32 %p5, %r7, 8200, %p3;");
}

TEST_CASE("A look of a part of a warp is answered at once") {
  // The other lanes have not exited: they wait at the warp's next barrier.
  const std::string waiting = "setp.ne.u32 %p6, %r1, 32; setp.eq.u32 %p3, %r1, 77; @%p6 bra OTHERS; " + kLook +
                              " OTHERS: bar.warp.sync -1; setp.eq.u32 %p7, %r1, 99; or.pred %p3, %p3, %p7;";
  check_sees(1000, waiting, "not.pred %p3, %p3; setp.lt.and.u32 %p5, %r7, 200, %p3;");
}

TEST_CASE("test_wait never suspends") {
  check_sees(1000, "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r3], 0;",
             "not.pred %p3, %p3; setp.lt.and.u32 %p5, %r7, 100, %p3;");
}

TEST_CASE("A look that nobody answers is no hang, and the barrier may be waited for again") {
  check_sees(5000, kLook + " AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0; @!%p3 bra AGAIN;",
             "setp.gt.and.u32 %p5, %r7, 9000, %p3;");
}
