// SPDX-License-Identifier: Apache-2.0
// What a thread has signalled before it releases a word is there before the word is: another CTA that has seen the
// word may exit.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// CTA 1 arrives on a barrier of CTA 0, and tells by a word there, stored by `store` to [%r5], that it has.
RunResult ran(const std::string& store) {
  const ScratchDirectory scratch;
  scratch.write("k.ptx", fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry tells(.param .u32 n)
.reqntid 32
.reqnctapercluster 2
{{
	.reg .pred %p<8>;
	.reg .b32 %r<10>;
	.shared .align 8 .b64 bar;
	.shared .align 4 .b32 word;
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
	mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];
	{}
	bra END;
POLL:
	ld.acquire.cluster.shared::cta.u32 %r9, [%r4];
	setp.eq.u32 %p3, %r9, 0;
	@%p3 bra POLL;
END:
	ret;
}}
)",
                                     store));
  return run_in_child(host::load_scenario(scratch.write("k.toml", R"(kernel = "ptx"
profile = "h200"
[problem]
ptx = "k.ptx"
entry = "tells"
grid = [2, 1, 1]
block = [32, 1, 1]
[[problem.tensor]]
name = "out"
type = "u32"
shape = [32]
contents = "zeros"
[[problem.argument]]
value = 1
[run]
sms = 2
)"),
                                          {}));
}

}  // namespace

TEST_CASE("A release is not seen before the arrivals on other CTAs' barriers that come before it") {
  for (const char* store : {"st.release.cluster.shared::cluster.u32 [%r5], %r7;",
                            "atom.release.cluster.shared::cluster.exch.b32 %r9, [%r5], %r7;"}) {
    const RunResult result = ran(store);
    INFO(store << "\n" << result.report);
    CHECK(result.outcome == Outcome::pass);
    CHECK(result.findings.empty());
  }
}
