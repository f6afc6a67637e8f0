// SPDX-License-Identifier: Apache-2.0
// Fences around relaxed atomics, across a barrier of the CTA: __threadfence() of all, __syncthreads(), an atomic of
// one thread, as CUTLASS's reductions have it.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// CTA 0: two warps store a word each, warp 0 raises a flag.  CTA 1 waits for the flag and reads both.
RunResult run_of(const std::string& first_fence, const std::string& second_fence,
                 const std::string& reader_fence = "\tfence.acq_rel.gpu;\n",
                 const std::string& barrier = "\tbar.sync 0;\n") {
  ScratchDirectory folder;
  folder.write("k.ptx", fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry hands_on(.param .u64 words, .param .u64 flag)
.reqntid 64
{{
	.reg .pred %p<8>;
	.reg .b32 %r<10>;
	.reg .b64 %rd<10>;
	mov.u32 %r1, %tid.x;
	shr.u32 %r2, %r1, 5;
	mov.u32 %r3, %ctaid.x;
	ld.param.u64 %rd1, [words];
	ld.param.u64 %rd2, [flag];
	mul.wide.u32 %rd3, %r2, 128;
	add.s64 %rd3, %rd1, %rd3;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 bra READS;
	st.global.u32 [%rd3], %r1;
	setp.ne.u32 %p2, %r2, 0;
	@%p2 bra SECOND;
{first}	bra MEET;
SECOND:
{second}MEET:
{barrier}	setp.ne.u32 %p3, %r1, 0;
	@%p3 bra END;
	atom.relaxed.gpu.global.add.u32 %r4, [%rd2], 1;
	bra END;
READS:
	setp.ne.u32 %p3, %r1, 0;
	@%p3 bra END;
POLL:
	atom.relaxed.gpu.global.add.u32 %r5, [%rd2], 0;
	setp.eq.u32 %p4, %r5, 0;
	@%p4 bra POLL;
{reader}	ld.global.u32 %r6, [%rd1];
	ld.global.u32 %r7, [%rd1+128];
	add.u32 %r6, %r6, %r7;
	st.global.u32 [%rd2+128], %r6;
END:
	ret;
}}
)",
                                    fmt::arg("first", first_fence), fmt::arg("second", second_fence),
                                    fmt::arg("reader", reader_fence), fmt::arg("barrier", barrier)));
  return run_in_child(host::load_scenario(folder.write(
      "k.toml",
      "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [2, 1, 1]\n"
      "[[problem.tensor]]\nname = \"words\"\ntype = \"u32\"\nshape = [64]\ncontents = \"zeros\"\n"
      "[[problem.tensor]]\nname = \"flag\"\ntype = \"u32\"\nshape = [64]\ncontents = \"zeros\"\n"
      "[[problem.argument]]\naddress = \"words\"\n[[problem.argument]]\naddress = \"flag\"\n[run]\nsms = 2\n")));
}

std::string id_of(const RunResult& result) { return result.findings.empty() ? "" : result.findings.front().id; }

constexpr const char* kFence = "\tfence.acq_rel.gpu;\n";

}  // namespace

TEST_CASE("a fence of each warp, a barrier, and an atomic of one thread hand on what all have stored") {
  for (const char* fence : {kFence, "\tmembar.gl;\n", "\tfence.sc.gpu;\n"}) {
    const RunResult result = run_of(fence, fence);
    INFO(result.report);
    CHECK(result.outcome == Outcome::pass);
    CHECK(result.findings.empty());
  }
}

TEST_CASE("what a warp stores without a fence is not handed on by the fence of another") {
  CHECK(id_of(run_of(kFence, "")) == "GM3");
  CHECK(id_of(run_of("", kFence)) == "GM3");
  CHECK(id_of(run_of("", "")) == "GM3");
}

TEST_CASE("a fence of another warp counts behind a barrier only") {
  CHECK(id_of(run_of(kFence, kFence, kFence, "")) == "GM3");
}

TEST_CASE("the reader needs a fence as well, CUTLASS's reductions have none, so that is a warning") {
  const RunResult result = run_of(kFence, kFence, "");
  INFO(result.report);
  CHECK(result.findings.empty());
  REQUIRE(result.warnings.size() == 2);  // of each writer's word
  CHECK(result.warnings.front().id == "GM3");
  CHECK_THAT(result.warnings.front().message, Catch::Contains("a fence behind the atomic that has read it"));
  // Without the writers' fences nothing is known to be over.
  CHECK(id_of(run_of("", kFence, "")) == "GM3");
  CHECK(id_of(run_of(kFence, kFence, "", "")) == "GM3");
}

TEST_CASE("a fence behind the barrier is one of all that came before it") {
  CHECK(id_of(run_of("", "", kFence, "\tbar.sync 0;\n\tfence.acq_rel.gpu;\n")) == "");
}
