// SPDX-License-Identifier: Apache-2.0
// Bulk copies and commits of one thread as PTX states them: bulk groups belong to the thread, and .shared::cluster
// names the shared memory of any CTA of the cluster.
#include <fmt/format.h>

#include "catch.h"
#include "run_ptx.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// @param body  of a kernel with %rd1, 128 bytes of ones, and %rd2, as many of zeros; %r1 the thread, %r2 `buffer`
/// of
///              128 bytes, %r3 `bar`, which thread 0 has initialised for one arrival
RunResult ran(const std::string& body, int ctas = 1) {
  return run_ptx(fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry copies(.param .u64 from, .param .u64 to)
.reqntid 32
{{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<8>;
	.shared .align 128 .b8 buffer[128];
	.shared .align 8 .b64 bar;
	ld.param.u64 %rd1, [from];
	ld.param.u64 %rd2, [to];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, buffer;
	mov.u32 %r3, bar;
	shl.b32 %r4, %r1, 2;
	add.u32 %r4, %r2, %r4;
	mov.u32 %r5, 1;
	st.shared.u32 [%r4], %r5;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
	fence.mbarrier_init.release.cluster;
	fence.proxy.async.shared::cta;
	bar.warp.sync -1;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
{body}
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	ret;
}}
)",
                             fmt::arg("body", body)),
                 ctas, {"ones", "zeros"});
}

/// Lane `storing` stores the buffer, lane `waiting` waits for its groups, then all lanes write the buffer again.
RunResult stored_by(int storing, int waiting) {
  return ran(fmt::format(R"(	setp.eq.u32 %p2, %r1, {};
	setp.eq.u32 %p3, %r1, {};
	@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 128;
	cp.async.bulk.commit_group;
	@%p3 cp.async.bulk.wait_group.read 0;
	bar.warp.sync -1;
	st.shared.u32 [%r4], %r1;
	cp.async.bulk.wait_group 0;
)",
                         storing, waiting));
}

/// CTA 1 waits for its barrier's first phase; CTA 0's thread 0 does `what` with addresses of CTA 1, %r8 of its
/// buffer and %r9 of its barrier.
RunResult to_peer(const std::string& what, const std::string& arms) {
  return ran(fmt::format(R"(	mov.u32 %r7, %cluster_ctarank;
	mov.u32 %r6, 1;
	mapa.shared::cluster.u32 %r8, %r2, %r6;
	mapa.shared::cluster.u32 %r9, %r3, %r6;
	setp.eq.u32 %p2, %r7, 0;
	@!%p2 bra PEER;
	@!%p1 bra OVER;
	{}
	bra OVER;
PEER:
	@%p1 {}
	bar.warp.sync -1;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
	@!%p3 bra WAIT;
	ld.shared.u32 %r10, [%r4];
	setp.ne.u32 %p4, %r10, 1;
	@%p4 trap;
OVER:
	bar.warp.sync -1;
)",
                         what, arms),
             2);
}

}  // namespace

TEST_CASE("A wait for bulk groups is for those of the thread that waits") {
  CHECK(stored_by(0, 0).outcome == Outcome::pass);
  CHECK(stored_by(5, 5).outcome == Outcome::pass);
  for (const auto& [storing, waiting] : {std::pair{0, 1}, std::pair{7, 0}}) {
    CAPTURE(storing, waiting);
    const RunResult r = stored_by(storing, waiting);
    CAPTURE(said(r));
    REQUIRE(r.outcome == Outcome::findings);
    CHECK(r.findings.front().id == "TM8");
  }
}

TEST_CASE("A bulk copy and a commit reach the shared memory of another CTA of the cluster") {
  const RunResult copy =
      to_peer("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 128, [%r9];",
              "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;");
  CAPTURE(said(copy));
  CHECK(copy.outcome == Outcome::pass);
  const RunResult commit =
      to_peer("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];", "mov.u32 %r11, 0;");
  CAPTURE(said(commit));
  CHECK(commit.outcome == Outcome::pass);
}

TEST_CASE("A bulk copy to another CTA signals that CTA's mbarrier, and no address beyond the cluster") {
  const std::string arms = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;";
  const RunResult own =
      to_peer("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 128, [%r3];", arms);
  REQUIRE(own.outcome == Outcome::findings);
  CHECK(own.findings.front().id == "MB3");
  const RunResult beyond = to_peer(
      "add.u32 %r9, %r9, 16777216; tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];",
      "mov.u32 %r11, 0;");
  REQUIRE(beyond.outcome == Outcome::findings);
  CHECK(beyond.findings.front().id == "MB3");
}
