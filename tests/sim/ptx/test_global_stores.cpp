// SPDX-License-Identifier: Apache-2.0
// What a warp's stores to global memory ask of L2: lanes in one sector, or in sectors that follow each other, are
// one piece.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// Cycles of 16 warps that store 256 times each.
/// @param lanes  of each warp, which store two bytes each
/// @param step   bytes from one lane's address to the next one's
uint64_t cycles_of(int lanes, int step) {
  const std::string ptx = fmt::format(
      R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry store(.param .u64 to)
.reqntid 512
{{
	.reg .pred %p<4>;
	.reg .b16 %h<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	and.b32 %r2, %r1, 31;
	setp.ge.u32 %p1, %r2, {lanes};
	@%p1 bra END;
	shr.u32 %r3, %r1, 5;
	mul.lo.u32 %r4, %r3, 65536;
	mad.lo.u32 %r4, %r2, {step}, %r4;
	cvt.u64.u32 %rd2, %r4;
	add.s64 %rd3, %rd1, %rd2;
	mov.u16 %h1, 1;
	mov.u32 %r5, 0;
LOOP:
	st.global.u16 [%rd3], %h1;
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p2, %r5, 256;
	@%p2 bra LOOP;
END:
	ret;
}}
)",
      fmt::arg("lanes", lanes), fmt::arg("step", step));
  ScratchDirectory where;
  where.write("store.ptx", ptx);
  const auto launch = where.write("launch.toml", R"(kernel = "ptx"
profile = "b200"
[problem]
ptx = "store.ptx"
entry = "store"
grid = [1, 1, 1]
[[problem.tensor]]
name = "to"
type = "u8"
shape = [1048576]
contents = "zeros"
[[problem.argument]]
address = "to"
[run]
sms = 1
)");
  return run_in_child(host::load_scenario(launch)).cycles;
}

}  // namespace

TEST_CASE("Lanes that store side by side are one piece for L2, lanes far apart one each") {
  const uint64_t one_lane = cycles_of(1, 2), side_by_side = cycles_of(32, 2), apart = cycles_of(32, 256);
  CHECK(side_by_side < one_lane + one_lane / 10);
  CHECK(apart > 2 * side_by_side);
}
