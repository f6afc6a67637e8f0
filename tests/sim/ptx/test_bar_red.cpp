// SPDX-License-Identifier: Apache-2.0
// bar.red on the models: all threads of the generation get the count, the conjunction or the disjunction of what
// they have said, one generation after the other.
#include <fmt/format.h>

#include "catch.h"
#include "run_ptx.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// 96 threads; the kernel traps where %p7 is false after `body`.
RunResult ran(const std::string& body) {
  return run_ptx(fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry votes()
.reqntid 96
{{
	.reg .pred %p<8>;
	.reg .b32 %r<12>;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p1, %r1, 41;
{}
	@!%p7 trap;
	ret;
}}
)",
                             body));
}

Outcome outcome(const std::string& body) { return ran(body).outcome; }

}  // namespace

TEST_CASE("bar.red counts, conjoins and disjoins over all threads of a barrier") {
  CHECK(outcome("\tbar.red.popc.u32 %r2, 0, %p1;\n\tsetp.eq.u32 %p7, %r2, 41;") == Outcome::pass);
  CHECK(outcome("\tbar.red.popc.u32 %r2, 3, 96, !%p1;\n\tsetp.eq.u32 %p7, %r2, 55;") == Outcome::pass);
  CHECK(outcome("\tbarrier.cta.red.popc.aligned.u32 %r2, 1, %p1;\n\tsetp.eq.u32 %p7, %r2, 41;") == Outcome::pass);
  CHECK(outcome("\tbar.red.or.pred %p7, 0, %p1;") == Outcome::pass);
  CHECK(outcome("\tbar.red.and.pred %p2, 0, %p1;\n\tnot.pred %p7, %p2;") == Outcome::pass);
  CHECK(outcome("\tsetp.lt.u32 %p2, %r1, 96;\n\tbar.red.and.pred %p7, 0, %p2;") == Outcome::pass);
  CHECK(outcome("\tbar.red.popc.u32 %r2, 0, %p1;\n\tsetp.eq.u32 %p7, %r2, 40;") != Outcome::pass);
}

TEST_CASE("bar.red of one generation has nothing of the one before") {
  CHECK(outcome(R"(	mov.u32 %r3, 0;
	mov.u32 %r4, 0;
LOOP:
	setp.lt.u32 %p2, %r1, %r3;
	bar.red.popc.u32 %r2, 0, %p2;
	sub.u32 %r5, %r2, %r3;
	or.b32 %r4, %r4, %r5;
	add.u32 %r3, %r3, 13;
	setp.lt.u32 %p3, %r3, 90;
	@%p3 bra LOOP;
	setp.eq.u32 %p7, %r4, 0;)") == Outcome::pass);
}
