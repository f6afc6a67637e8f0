// SPDX-License-Identifier: Apache-2.0
// What a warp's stores to global memory take of the SM and of L2: lanes in one sector, or in sectors that follow
// each other, are one piece; the way out of the SM is as an H200 has it (bench/hardware/store_costs.cu).
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

struct Stores {
  const char* type;  ///< of what a lane stores: "u16", "v4.b32"
  int lanes;         ///< of each warp
  int pitch;         ///< bytes from one lane's address to the next one's
  int step;          ///< bytes from one store's to the next one's
  int warps = 16;
  const char* profile = "h200";
};

/// Cycles of one CTA whose warps store so many times each, a multiple of 4.
double cycles_of(const Stores& stores, int times) {
  const std::string type = stores.type;
  const std::string ptx = fmt::format(
      R"(.version 8.7
.target {target}
.address_size 64
.visible .entry store(.param .u64 to)
.reqntid {threads}
{{
	.reg .pred %p<4>;
	.reg .b16 %h<2>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	and.b32 %r2, %r1, 31;
	setp.ge.u32 %p1, %r2, {lanes};
	@%p1 bra END;
	shr.u32 %r3, %r1, 5;
	mul.lo.u32 %r4, %r3, 65536;
	mad.lo.u32 %r4, %r2, {pitch}, %r4;
	cvt.u64.u32 %rd2, %r4;
	add.s64 %rd3, %rd1, %rd2;
	mov.u16 %h1, 1;
	mov.u32 %r6, 1;
	mov.u32 %r7, 1;
	mov.u32 %r8, 1;
	mov.u32 %r9, 1;
	mov.u32 %r5, 0;
LOOP:
	st.global.{type} [%rd3], {value};
	st.global.{type} [%rd3+{step}], {value};
	st.global.{type} [%rd3+2*{step}], {value};
	st.global.{type} [%rd3+3*{step}], {value};
	add.s64 %rd3, %rd3, 4*{step};
	add.u32 %r5, %r5, 4;
	setp.lt.u32 %p2, %r5, {times};
	@%p2 bra LOOP;
END:
	ret;
}}
)",
      fmt::arg("target", std::string(stores.profile) == "h200" ? "sm_90a" : "sm_100a"),
      fmt::arg("threads", 32 * stores.warps), fmt::arg("lanes", stores.lanes), fmt::arg("pitch", stores.pitch),
      fmt::arg("step", stores.step), fmt::arg("times", times), fmt::arg("type", type),
      fmt::arg("value", type == "u16"      ? "%h1"
                        : type == "v2.b32" ? "{%r6, %r7}"
                        : type == "v4.b32" ? "{%r6, %r7, %r8, %r9}"
                                           : "%r6"));
  ScratchDirectory where;
  where.write("store.ptx", ptx);
  const auto launch = where.write("launch.toml", fmt::format(R"(kernel = "ptx"
profile = "{}"
[problem]
ptx = "store.ptx"
entry = "store"
grid = [1, 1, 1]
[[problem.tensor]]
name = "to"
type = "u8"
shape = [2097152]
contents = "zeros"
[[problem.argument]]
address = "to"
[run]
sms = 1
)",
                                                             stores.profile));
  const RunResult result = run_in_child(host::load_scenario(launch));
  INFO(result.report);
  REQUIRE(result.outcome == Outcome::pass);
  return double(result.cycles);
}

/// Cycles of the SM for one store of one of its warps, when all of them store again and again.
double steady(const Stores& stores) { return (cycles_of(stores, 128) - cycles_of(stores, 64)) / 64 / stores.warps; }

}  // namespace

TEST_CASE("Lanes that store side by side are one piece for L2, lanes far apart one each") {
  const auto of = [](int lanes, int pitch) {
    return cycles_of({.type = "u16", .lanes = lanes, .pitch = pitch, .step = 0, .profile = "b200"}, 256);
  };
  const double one_lane = of(1, 2), side_by_side = of(16, 2), apart = of(32, 256);
  CHECK(side_by_side < 1.1 * one_lane);  // one sector, too
  CHECK(apart > 2 * side_by_side);
}

TEST_CASE("The way of stores out of an SM has a line in two cycles and a sector in one, as an H200's") {
  CHECK(steady({.type = "b32", .lanes = 1, .pitch = 0, .step = 128}) == Approx(2.00).epsilon(0.03));
  CHECK(steady({.type = "b32", .lanes = 32, .pitch = 4, .step = 128}) == Approx(4.00).epsilon(0.03));
  CHECK(steady({.type = "v2.b32", .lanes = 32, .pitch = 8, .step = 256}) == Approx(8.03).epsilon(0.03));
  CHECK(steady({.type = "v4.b32", .lanes = 32, .pitch = 16, .step = 512}) == Approx(16.00).epsilon(0.03));
  CHECK(steady({.type = "b32", .lanes = 32, .pitch = 512, .step = 4}) == Approx(64.01).epsilon(0.03));
  CHECK(steady({.type = "v4.b32", .lanes = 32, .pitch = 512, .step = 16}) == Approx(64.00).epsilon(0.03));
  // One warp's registers pass 32 bytes in a cycle; an H200 takes 17 to 19 cycles.
  const double alone = steady({.type = "v4.b32", .lanes = 32, .pitch = 16, .step = 512, .warps = 1});
  CHECK(alone >= 17);
  CHECK(alone <= 19);
}
