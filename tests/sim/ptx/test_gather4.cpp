// SPDX-License-Identifier: Apache-2.0
// .tile::gather4 and .tile::scatter4: four rows of a tensor that lie anywhere (PTX 5.5.3.4, 9.7.9.25).
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

struct Copy {
  std::string rows = "5, 63, 64, -1";  ///< of 64; the others are out of bounds
  uint32_t found = 0b0011;             ///< of these rows, a bit each: all others are to be zero
  std::string store_rows = "9, 64, 3, 60";
  int box_rows = 1;
  std::string column = "8";

  /// Rows of 32 words, of which columns 8 to 23 are copied; word i of row r is 32 r + i.  Warp 0 fills the tensor,
  /// loads four rows of it, looks at each word, and stores the four rows of its own buffer to another tensor.
  std::string text() const {
    return fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry gathers(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 words,
                        .param .u64 stored)
.reqntid 32
{{
	.reg .pred %p<8>;
	.reg .b32 %r<32>;
	.reg .b64 %rd<16>;
	.shared .align 128 .b8 buffer[256];
	.shared .align 8 .b64 bar;
	ld.param.u64 %rd1, [words];
	ld.param.u64 %rd2, [stored];
	mov.b64 %rd3, from;
	cvta.param.u64 %rd3, %rd3;
	mov.b64 %rd4, to;
	cvta.param.u64 %rd4, %rd4;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, buffer;
	mov.u32 %r3, bar;
	mul.wide.u32 %rd5, %r1, 4;
	add.u64 %rd6, %rd1, %rd5;
	mov.u32 %r4, 0;
FILL:
	mad.lo.u32 %r5, %r4, 32, %r1;
	st.global.u32 [%rd6], %r5;
	add.u64 %rd6, %rd6, 128;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p1, %r4, 64;
	@%p1 bra FILL;
	fence.proxy.async;
	setp.eq.u32 %p2, %r1, 0;
	@%p2 mbarrier.init.shared::cta.b64 [%r3], 1;
	fence.mbarrier_init.release.cluster;
	bar.warp.sync -1;
	@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;
	@%p2 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r2], [%rd3, {{{column}, {rows}}}], [%r3];
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
	@!%p3 bra WAIT;
	and.b32 %r6, %r1, 15;
	shl.b32 %r7, %r6, 2;
	add.u32 %r7, %r2, %r7;
	ld.shared.u32 %r8, [%r7];
	ld.shared.u32 %r9, [%r7+64];
	ld.shared.u32 %r10, [%r7+128];
	ld.shared.u32 %r11, [%r7+192];
{checks}	fence.proxy.async;
	bar.warp.sync -1;
	@%p2 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd4, {{{column}, {store_rows}}}], [%r2];
	@%p2 cp.async.bulk.commit_group;
	@%p2 cp.async.bulk.wait_group 0;
	bar.warp.sync -1;
	add.u64 %rd8, %rd2, %rd5;
	ld.global.u32 %r20, [%rd8+1152];
	ld.global.u32 %r21, [%rd8+384];
	ld.global.u32 %r22, [%rd8+7680];
	add.u32 %r23, %r1, 160;
	sub.u32 %r24, %r1, 8;
	setp.lt.u32 %p5, %r24, 16;
	selp.b32 %r25, %r23, 0, %p5;
	setp.ne.u32 %p4, %r20, %r25;
	@%p4 trap;
	setp.ne.u32 %p4, %r21, 0;
	@%p4 trap;
	setp.ne.u32 %p4, %r22, 0;
	@%p4 trap;
	ret;
}}
)",
                       fmt::arg("rows", rows), fmt::arg("store_rows", store_rows), fmt::arg("column", column),
                       fmt::arg("checks", checks()));
  }

  /// Registers %r8 to %r11 hold the words of the four rows.
  std::string checks() const {
    std::string text;
    const char* row[] = {"5", "63", "0", "0"};
    for (int i = 0; i < 4; ++i) {
      if (found >> i & 1)
        text += fmt::format("\tmov.u32 %r12, {};\n\tmad.lo.u32 %r12, %r12, 32, 8;\n\tadd.u32 %r12, %r12, %r6;\n",
                            row[i]);
      else
        text += "\tmov.u32 %r12, 0;\n";
      text += fmt::format("\tsetp.ne.u32 %p4, %r{}, %r12;\n\t@%p4 trap;\n", 8 + i);
    }
    return text;
  }

  RunResult run() const {
    const ScratchDirectory folder;
    folder.write("k.ptx", text());
    const std::string map = fmt::format("box = [16, {}]\n", box_rows);
    return run_in_child(host::load_scenario(folder.write(
        "k.toml",
        "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n"
        "[[problem.tensor]]\nname = \"words\"\ntype = \"u32\"\nshape = [64, 32]\ncontents = \"zeros\"\n"
        "[[problem.tensor]]\nname = \"stored\"\ntype = \"u32\"\nshape = [64, 32]\ncontents = \"zeros\"\n"
        "[[problem.argument]]\ntensor_map = \"words\"\n" +
            map + "[[problem.argument]]\ntensor_map = \"stored\"\n" + map +
            "[[problem.argument]]\naddress = \"words\"\n[[problem.argument]]\naddress = \"stored\"\n"
            "[run]\nsms = 1\n")));
  }
};

}  // namespace

TEST_CASE("gather4: four rows anywhere, zeros for those outside, scatter4: rows outside are left out") {
  const RunResult ran = Copy{}.run();
  INFO(ran.report);
  CHECK(ran.outcome == Outcome::pass);
  CHECK(ran.findings.empty());
}

TEST_CASE("gather4: another row than the one looked at is noticed by the test") {
  CHECK(Copy{.rows = "5, 62, 64, -1"}.run().outcome != Outcome::pass);
}

TEST_CASE("gather4: the box of the map has one row") {
  const RunResult ran = Copy{.box_rows = 4}.run();
  INFO(ran.report);
  REQUIRE(ran.findings.size() == 1);
  CHECK(ran.findings[0].id == "TM1");
  CHECK(ran.findings[0].message.find("whose box has 4 rows: must have 1") != std::string::npos);
}

TEST_CASE("gather4 and scatter4: columns begin at multiples of 16 bytes, rows of a store are not negative") {
  const RunResult column = Copy{.column = "7"}.run();
  INFO(column.report);
  REQUIRE(column.findings.size() == 1);
  CHECK(column.findings[0].id == "TM10");
  const RunResult row = Copy{.store_rows = "9, 64, 3, -1"}.run();
  INFO(row.report);
  REQUIRE(row.findings.size() == 1);
  CHECK(row.findings[0].id == "TM10");
  CHECK(row.findings[0].message.find("(8, 9, 64, 3, -1)") != std::string::npos);
}
