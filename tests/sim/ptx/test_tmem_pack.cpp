// SPDX-License-Identifier: Apache-2.0
// tcgen05.ld.pack::16b and st.unpack::16b: a register has the low halves of two neighbouring cells.
#include "catch.h"
#include "run_ptx.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// @param body  of one warp: %r1 is its lane, %r3 the first of 32 columns
RunResult in_tensor_memory(const std::string& body) {
  return run_ptx(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry columns()
.reqntid 32
{
	.reg .pred %p<8>;
	.reg .b32 %r<24>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b32 at;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, at;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32;
	tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
	bar.warp.sync -1;
	ld.shared.u32 %r3, [%r2];
)" + body + R"(	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
	ret;
}
)");
}

}  // namespace

TEST_CASE("tcgen05.ld.32x32b.pack::16b packs the low halves of cells side by side") {
  const RunResult r = in_tensor_memory(R"(	or.b32 %r4, %r1, 0x11110000;
	or.b32 %r5, %r1, 0x22220100;
	or.b32 %r6, %r1, 0x33330200;
	or.b32 %r7, %r1, 0x44440300;
	tcgen05.st.sync.aligned.32x32b.x4.b32 [%r3], {%r4, %r5, %r6, %r7};
	tcgen05.wait::st.sync.aligned;
	tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%r8, %r9}, [%r3];
	tcgen05.wait::ld.sync.aligned;
	prmt.b32 %r10, %r4, %r5, 0x5410;
	prmt.b32 %r11, %r6, %r7, 0x5410;
	setp.ne.u32 %p1, %r8, %r10;
	setp.ne.or.u32 %p2, %r9, %r11, %p1;
	@%p2 trap;
)");
  INFO(said(r));
  CHECK(r.outcome == Outcome::pass);
}

TEST_CASE("tcgen05.st.32x32b.unpack::16b puts the halves of a register into cells side by side") {
  const RunResult r = in_tensor_memory(R"(	or.b32 %r4, %r1, 0x11110000;
	or.b32 %r5, %r1, 0x22220100;
	tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r3], {%r4, %r5};
	tcgen05.wait::st.sync.aligned;
	tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r8, %r9, %r10, %r11}, [%r3];
	tcgen05.wait::ld.sync.aligned;
	or.b32 %r12, %r1, 0x0100;
	setp.ne.u32 %p1, %r8, %r1;
	setp.ne.or.u32 %p1, %r9, 0x1111, %p1;
	setp.ne.or.u32 %p1, %r10, %r12, %p1;
	setp.ne.or.u32 %p1, %r11, 0x2222, %p1;
	@%p1 trap;
)");
  INFO(said(r));
  CHECK(r.outcome == Outcome::pass);
}

// A compiler may put a mov ahead of the wait, as nothing but the registers orders it; ptxas makes nothing of it.
TEST_CASE("A mov of what tcgen05.ld brings is no read before tcgen05.wait::ld, an addition is one") {
  const auto between = [](const std::string& instruction) {
    return in_tensor_memory(R"(	tcgen05.st.sync.aligned.32x32b.x2.b32 [%r3], {%r1, %r1};
	tcgen05.wait::st.sync.aligned;
	tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r8, %r9}, [%r3];
)" + instruction + R"(
	tcgen05.wait::ld.sync.aligned;
	mov.b64 {%r11, %r12}, %rd1;
	setp.ne.u32 %p1, %r10, %r1;
	setp.ne.or.u32 %p1, %r11, %r1, %p1;
	@%p1 trap;
)");
  };
  const RunResult moved = between("	mov.b32 %r10, %r8;\n	mov.b64 %rd1, {%r9, %r9};");
  INFO(said(moved));
  CHECK(moved.outcome == Outcome::pass);
  CHECK(moved.warnings.empty());
  const RunResult added = between("	add.u32 %r10, %r8, 0;\n	mov.b64 %rd1, {%r9, %r9};");
  INFO(said(added));
  CHECK(added.outcome == Outcome::pass);
  REQUIRE(added.warnings.size() == 1);
  CHECK(added.warnings[0].id == "TC18");
}
