// SPDX-License-Identifier: Apache-2.0
// What a thread has signalled before it releases a word is there before the word is: another CTA that has seen the
// word may exit.
#include <fmt/format.h>

#include "catch.h"
#include "run_ptx.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// CTA 1 does something to CTA 0, and tells by a word there, stored to [%r5], that it has: `tells`.  CTA 0 polls
/// its word by `poll`, and exits.
RunResult ran(const std::string& tells, const std::string& poll = "ld.acquire.cluster") {
  return run_ptx(fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry tells()
.reqntid 32
.reqnctapercluster 2
{{
	.reg .pred %p<8>;
	.reg .b32 %r<10>;
	.shared .align 8 .b64 bar;
	.shared .align 4 .b32 word[4];
	mov.u32 %r1, %tid.x;
	mov.u32 %r3, bar;
	mov.u32 %r4, word;
	mov.u32 %r6, 0;
	mov.u32 %r7, 1;
	mov.u32 %r2, %cluster_ctarank;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra READY;
	st.shared.u32 [%r4], %r6;
	mbarrier.init.shared::cta.b64 [%r3], 1;
	fence.mbarrier_init.release.cluster;
READY:
	bar.warp.sync 0xffffffff;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	@%p1 bra END;
	setp.eq.u32 %p2, %r2, 0;
	@%p2 bra POLL;
	mapa.shared::cluster.u32 %r8, %r3, %r6;
	mapa.shared::cluster.u32 %r5, %r4, %r6;
	{}
	bra END;
POLL:
	{}.shared::cta.u32 %r9, [%r4];
	setp.eq.u32 %p3, %r9, 0;
	@%p3 bra POLL;
END:
	ret;
}}
)",
                             tells, poll),
                 2);
}

/// A thread stores a word and arrives, one of another warp waits and loads it.
RunResult handed_on(const std::string& arrive, const std::string& wait) {
  return run_ptx(fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry hands(.param .u64 out)
.reqntid 64
{{
	.reg .pred %p<8>;
	.reg .b32 %r<10>;
	.reg .b64 %rd<4>;
	.shared .align 8 .b64 bar;
	.shared .align 4 .b32 word;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r3, bar;
	mov.u32 %r4, word;
	setp.eq.u32 %p1, %r1, 0;
	setp.eq.u32 %p2, %r1, 32;
	@!%p1 bra READY;
	mbarrier.init.shared::cta.b64 [%r3], 1;
READY:
	bar.sync 0;
	@%p2 bra WAIT;
	@!%p1 bra END;
	st.shared.u32 [%r4], %r1;
	{}.shared::cta.b64 _, [%r3];
	bra END;
WAIT:
	mbarrier.try_wait.parity{}.shared::cta.b64 %p3, [%r3], 0;
	@!%p3 bra WAIT;
	{}
	ld.shared.u32 %r8, [%r4];
	st.global.u32 [%rd1], %r8;
END:
	ret;
}}
)",
                             arrive, wait.starts_with(".") ? wait.substr(0, wait.find(' ')) : "",
                             wait.find("fence") == std::string::npos ? "" : "fence.acq_rel.cta;"),
                 1, {"zeros"});
}

}  // namespace

TEST_CASE("An arrival or a wait that is .relaxed hands on nothing but what a fence has fenced") {
  const std::string relaxed = "mbarrier.arrive.relaxed.cta", fence = "fence.acq_rel.cta;\n\t";
  for (const std::string& arrive : {std::string("mbarrier.arrive"), fence + relaxed})
    for (const char* wait : {"", ".relaxed.cta fence"}) {
      const RunResult ordered = handed_on(arrive, wait);
      INFO(arrive << wait << "\n" << ordered.report);
      CHECK(ordered.outcome == Outcome::pass);
      CHECK(ordered.findings.empty());
    }
  for (const auto& [arrive, wait] :
       std::vector<std::pair<std::string, const char*>>{{relaxed, ""},
                                                        {relaxed, ".relaxed.cta fence"},
                                                        {"mbarrier.arrive", ".relaxed.cta"},
                                                        {fence + relaxed, ".relaxed.cta"}}) {
    const RunResult unordered = handed_on(arrive, wait);
    INFO(arrive << wait << "\n" << unordered.report);
    REQUIRE(unordered.findings.size() == 1);
    CHECK(unordered.findings[0].id == "SM3");
    CHECK(unordered.report.find("between: an arrival or a wait that is .relaxed") != std::string::npos);
  }
}

TEST_CASE("A release is not seen before the arrivals on other CTAs' barriers that come before it") {
  for (const char* store : {"st.release.cluster.shared::cluster.u32 [%r5], %r7;",
                            "atom.release.cluster.shared::cluster.exch.b32 %r9, [%r5], %r7;"}) {
    const RunResult result =
        ran(std::string("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n\t") + store);
    INFO(store << "\n" << result.report);
    CHECK(result.outcome == Outcome::pass);
    CHECK(result.findings.empty());
  }
}

TEST_CASE("A relaxed store to another CTA that this one has read is there, what came before it need not be") {
  const char* const flag = "st.relaxed.cluster.shared::cluster.u32 [%r5], %r7;";
  for (const char* poll : {"ld.relaxed.cluster", "ld.acquire.cluster", "ld.volatile"}) {
    const RunResult seen = ran(flag, poll);
    INFO(poll << "\n" << seen.report);
    CHECK(seen.outcome == Outcome::pass);
    CHECK(seen.findings.empty());
  }
  for (const char* before : {"st.shared::cluster.u32 [%r5+8], %r7;", "ld.shared::cluster.u32 %r9, [%r5+8];",
                             "st.relaxed.cluster.shared::cluster.u32 [%r5+8], %r7;",
                             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];"}) {
    const RunResult unordered = ran(std::string(before) + "\n\t" + flag, "ld.relaxed.cluster");
    INFO(before << "\n" << unordered.report);
    REQUIRE(unordered.findings.size() == 1);
    CHECK(unordered.findings[0].id == "CR3");
  }
}
