// SPDX-License-Identifier: Apache-2.0
// What lanes ask each other and keep apart: segments of shuffles, votes, matches, carries, masks, narrow vectors.
// Expectations follow from the PTX text of each instruction.
#include <fmt/format.h>

#include <functional>

#include "catch.h"
#include "sim/ptx/functional_launch.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// Each thread of a warp stores %r9 after `body`; %r1 is its lane.  A cluster's CTAs store one after the other.
void check_lanes(const std::string& body, const std::function<uint32_t(uint32_t)>& expected, uint32_t ctas = 1) {
  FunctionalProgram program(fmt::format(R"(
.entry lanes(.param .u64 out) {{
	.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
	.shared .align 16 .b8 box[512];
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r9, 77;
	shl.b32 %r3, %r2, 5; add.u32 %r3, %r3, %r1; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd1, %rd2;
{}
	st.global.u32 [%rd2], %r9;
	ret;
}})",
                                        body));
  const uint64_t out = program.memory.allocate(128 * ctas);
  INFO(body);
  const FunctionalResult result = program.run({ctas, 1, 1}, {32, 1, 1}, Arguments() << out, Dim3{ctas, 1, 1});
  INFO(result.text);
  REQUIRE(result.end == FunctionalEnd::finished);
  for (uint32_t i = 0; i < 32 * ctas; ++i) {
    INFO("thread " << i);
    CHECK(program.memory.at<uint32_t>(out, i) == expected(i));
  }
}

const std::string kPicked = "\tselp.u32 %r9, 1, 0, %p1;\n";

}  // namespace

TEST_CASE("shfl stays in its segment of lanes") {
  check_lanes("\tshfl.sync.down.b32 %r9|%p1, %r1, 4, 0x101f, -1;\n",
              [](uint32_t lane) { return lane % 16 < 12 ? lane + 4 : lane; });
  check_lanes("\tshfl.sync.down.b32 %r8|%p1, %r1, 4, 0x101f, -1;\n" + kPicked,
              [](uint32_t lane) { return uint32_t(lane % 16 < 12); });
  check_lanes("\tshfl.sync.up.b32 %r9, %r1, 3, 0x1800, -1;\n",
              [](uint32_t lane) { return lane % 8 < 3 ? lane : lane - 3; });
  check_lanes("\tshfl.sync.idx.b32 %r9, %r1, 5, 0x181f, -1;\n", [](uint32_t lane) { return lane / 8 * 8 + 5; });
  check_lanes("\tshfl.sync.bfly.b32 %r9, %r1, 9, 0x1f, -1;\n", [](uint32_t lane) { return lane ^ 9; });
}

TEST_CASE("vote.uni holds where all lanes say the same, yes or no") {
  const std::string vote = "\tvote.sync.uni.pred %p1, %p2, -1;\n" + kPicked;
  check_lanes("\tsetp.gt.u32 %p2, %r1, 40;\n" + vote, [](uint32_t) { return 1u; });
  check_lanes("\tsetp.lt.u32 %p2, %r1, 40;\n" + vote, [](uint32_t) { return 1u; });
  check_lanes("\tsetp.lt.u32 %p2, %r1, 4;\n" + vote, [](uint32_t) { return 0u; });
  check_lanes("\tsetp.lt.u32 %p2, %r1, 4;\n\tvote.sync.any.pred %p1, !%p2, -1;\n" + kPicked,
              [](uint32_t) { return 1u; });
  check_lanes("\tsetp.lt.u32 %p2, %r1, 40;\n\tvote.sync.any.pred %p1, !%p2, -1;\n" + kPicked,
              [](uint32_t) { return 0u; });
}

TEST_CASE("lanes that name masks of their own exchange within these") {
  const std::string own =
      "\tand.b32 %r4, %r1, 28;\n\tmov.u32 %r5, 15;\n\tshl.b32 %r5, %r5, %r4;\n";  // of four lanes
  const auto first = [](uint32_t lane) { return lane & 28; };
  check_lanes(own + "\tsetp.eq.u32 %p2, %r1, 5;\n\tvote.sync.any.pred %p1, %p2, %r5;\n" + kPicked,
              [](uint32_t lane) { return uint32_t(lane / 4 == 1); });
  check_lanes(own + "\tand.b32 %r6, %r1, 1;\n\tsetp.eq.u32 %p2, %r6, 1;\n\tvote.sync.ballot.b32 %r9, %p2, %r5;\n",
              [&](uint32_t lane) { return 0xau << first(lane); });
  check_lanes(own + "\tredux.sync.add.u32 %r9, %r1, %r5;\n", [&](uint32_t lane) { return 4 * first(lane) + 6; });
  check_lanes(own + "\tshr.u32 %r6, %r1, 2;\n\tmatch.all.sync.b32 %r9|%p1, %r6, %r5;\n",
              [&](uint32_t lane) { return 0xfu << first(lane); });
  check_lanes(own + "\tmov.u32 %r6, 3;\n\tmatch.any.sync.b32 %r9, %r6, %r5;\n",
              [&](uint32_t lane) { return 0xfu << first(lane); });
  check_lanes(own + "\telect.sync %r9|%p1, %r5;\n", first);
}

TEST_CASE("modifiers of exchanges stand in any order, and a type follows .reg without a blank") {
  check_lanes("\t{ .reg.pred %q; setp.lt.u32 %q, %r1, 3; vote.ballot.sync.b32 %r9, %q, -1; }\n",
              [](uint32_t) { return 7u; });
  check_lanes("\tshfl.bfly.sync.b32 %r9, %r1, 9, 0x1f, -1;\n", [](uint32_t lane) { return lane ^ 9; });
  check_lanes("\tshr.u32 %r6, %r1, 4;\n\tmatch.sync.any.b32 %r9, %r6, -1;\n",
              [](uint32_t lane) { return lane < 16 ? 0xffffu : 0xffff0000u; });
}

TEST_CASE("match.all says with its predicate whether all values are alike") {
  check_lanes("\tshr.u32 %r4, %r1, 5;\n\tmatch.all.sync.b32 %r8|%p1, %r4, -1;\n" + kPicked,
              [](uint32_t) { return 1u; });
  check_lanes("\tsetp.eq.u32 %p1, %r1, %r1;\n\tmatch.all.sync.b32 %r8|%p1, %r1, -1;\n" + kPicked,
              [](uint32_t) { return 0u; });
}

TEST_CASE("redux compares signed numbers as such") {
  check_lanes("\tsub.s32 %r4, %r1, 16;\n\tredux.sync.min.s32 %r9, %r4, -1;\n",
              [](uint32_t) { return uint32_t(-16); });
  check_lanes("\tsub.s32 %r4, %r1, 16;\n\tredux.sync.max.s32 %r9, %r4, -1;\n", [](uint32_t) { return 15u; });
  check_lanes("\tsub.s32 %r4, %r1, 16;\n\tredux.sync.min.u32 %r9, %r4, -1;\n", [](uint32_t) { return 0u; });
  check_lanes("\tsub.s32 %r4, %r1, 16;\n\tredux.sync.max.u32 %r9, %r4, -1;\n",
              [](uint32_t) { return uint32_t(-1); });
}

TEST_CASE("%lanemask_ge has the own lane, %lanemask_gt has not") {
  check_lanes("\tmov.u32 %r9, %lanemask_ge;\n", [](uint32_t lane) { return ~0u << lane; });
  check_lanes("\tmov.u32 %r9, %lanemask_gt;\n", [](uint32_t lane) { return lane == 31 ? 0 : ~0u << (lane + 1); });
}

TEST_CASE("Each lane has a carry of its own, and lanes that are left out keep theirs") {
  // a carry in odd lanes alone
  const std::string odd = "\tand.b32 %r4, %r1, 1;\n\tadd.cc.u32 %r5, %r4, 0xffffffff;\n";
  check_lanes(odd + "\taddc.u32 %r9, 10, 0;\n", [](uint32_t lane) { return 10 + lane % 2; });
  check_lanes(odd + "\tmadc.lo.u32 %r9, %r1, 2, 5;\n", [](uint32_t lane) { return 2 * lane + 5 + lane % 2; });
  check_lanes(odd + "\tsetp.lt.u32 %p2, %r1, 8;\n\t@%p2 add.cc.u32 %r5, 0, 0;\n\taddc.u32 %r9, 10, 0;\n",
              [](uint32_t lane) { return lane < 8 ? 10 : 10 + lane % 2; });
  check_lanes(odd + "\tsetp.lt.u32 %p2, %r1, 8;\n\t@%p2 mad.lo.cc.u32 %r5, 0, 0, 0;\n\taddc.u32 %r9, 10, 0;\n",
              [](uint32_t lane) { return lane < 8 ? 10 : 10 + lane % 2; });
}

TEST_CASE("Elements of narrow vectors lie next to each other") {
  const std::string fill =
      "\tmov.u32 %r5, box;\n\tshl.b32 %r6, %r1, 3;\n\tadd.u32 %r5, %r5, %r6;\n\tst.shared.v2.b32 [%r5], "
      "{0x04030201, 0x08070605};\n";
  check_lanes(fill + "\tld.shared.v4.u8 {%h1, %h2, %h3, %h4}, [%r5];\n\tcvt.u32.u16 %r9, %h3;\n",
              [](uint32_t) { return 3u; });
  check_lanes(fill + "\tld.shared.v2.u16 {%h1, %h2}, [%r5+4];\n\tcvt.u32.u16 %r9, %h2;\n",
              [](uint32_t) { return 0x0807u; });
}

TEST_CASE("An address of another CTA of the cluster is shared, and not the own CTA's") {
  const std::string address =
      "\tmov.u32 %r4, %cluster_ctarank;\n\txor.b32 %r4, %r4, 1;\n\tmov.u32 %r5, box;\n"
      "\tmapa.shared::cluster.u32 %r6, %r5, %r4;\n\tcvt.u64.u32 %rd3, %r6;\n\tcvta.shared.u64 %rd4, %rd3;\n"
      "\tcvt.u64.u32 %rd5, %r5;\n\tcvta.shared.u64 %rd6, %rd5;\n";
  check_lanes(
      address + "\tisspacep.shared::cluster %p1, %rd4;\n" + kPicked, [](uint32_t) { return 1u; }, 2);
  check_lanes(
      address + "\tisspacep.shared::cta %p1, %rd4;\n" + kPicked, [](uint32_t) { return 0u; }, 2);
  check_lanes(
      address + "\tisspacep.shared::cta %p1, %rd6;\n" + kPicked, [](uint32_t) { return 1u; }, 2);
}

TEST_CASE("cp.async reads nothing where its predicate says so") {
  check_lanes(
      "\tst.global.u32 [%rd2], 5;\n\tmov.u32 %r5, box;\n\tshl.b32 %r6, %r1, 2;\n\tadd.u32 %r5, %r5, %r6;\n"
      "\tsetp.lt.u32 %p2, %r1, 8;\n\tcp.async.ca.shared.global [%r5], [%rd2], 4, %p2;\n\tcp.async.wait_all;\n"
      "\tld.shared.u32 %r9, [%r5];\n",
      [](uint32_t lane) { return lane < 8 ? 0u : 5u; });
}
