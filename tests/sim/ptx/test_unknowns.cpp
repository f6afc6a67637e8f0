// SPDX-License-Identifier: Apache-2.0
// Runs of PTX without data: what follows from a tensor's contents is unknown, also behind shared memory, and a
// branch on it ends the run.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// %r5 comes from memory, %r6 is the thread's number; `body` leaves in %r7 what the branch asks for.
RunResult run_of(const std::string& body, const std::string& data = "none") {
  ScratchDirectory folder;
  folder.write("k.ptx", fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry reads(.param .u64 in)
.reqntid 32
{{
	.reg .pred %p<4>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<4>;
	.shared .align 16 .b8 box[1024];
	.shared .align 8 .b64 bar;
	ld.param.u64 %rd1, [in];
	mov.u32 %r6, %tid.x;
	shl.b32 %r1, %r6, 4;
	mov.u32 %r2, box;
	mov.u32 %r3, bar;
	add.u32 %r4, %r2, %r1;
	ld.global.u32 %r5, [%rd1];
{}	setp.gt.u32 %p1, %r7, 5000000;
	@%p1 bra END;
	add.u32 %r6, %r6, 1;
END:
	ret;
}}
)",
                                    body));
  return run_in_child(host::load_scenario(folder.write(
      "k.toml",
      fmt::format("kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n"
                  "[[problem.tensor]]\nname = \"in\"\ntype = \"f32\"\nshape = [256]\ncontents = \"random\"\n"
                  "[[problem.argument]]\naddress = \"in\"\n[run]\nsms = 1\ndata = \"{}\"\n",
                  data))));
}

void check_unknown(const std::string& body) {
  INFO(body);
  const RunResult none = run_of(body);
  INFO(none.report);
  CHECK_THAT(none.report, Catch::Contains("depends on data, and this run has none"));
  CHECK(run_of(body, "full").outcome == Outcome::pass);
}
void check_known(const std::string& body) {
  INFO(body);
  const RunResult none = run_of(body);
  INFO(none.report);
  CHECK(none.outcome == Outcome::pass);
}

}  // namespace

TEST_CASE("A value of a tensor is unknown behind shared memory, at every width") {
  check_unknown("\tst.shared.u32 [%r4], %r5;\n\tld.shared.u32 %r7, [%r4];\n");
  check_unknown("\tst.shared.u32 [%r4], %r5;\n\tld.shared.u32 %r7, [%r2];\n");  // one address for all lanes
  check_unknown("\tst.shared.v2.u32 [%r4], {%r6, %r5};\n\tld.shared.u32 %r7, [%r4];\n");
  check_unknown("\tst.shared.u8 [%r4+3], %r5;\n\tld.shared.u32 %r7, [%r4];\n");
  check_unknown("\tst.shared.u32 [%r4], %r5;\n\tld.shared.v4.u32 {%r8, %r7, %r9, %r10}, [%r4];\n");
  check_unknown(
      "\tst.shared.u32 [%r4], %r5;\n\tbar.warp.sync -1;\n\tldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, "
      "[%r4];\n");
}

TEST_CASE("What other lanes or other bytes hold is known") {
  check_known("\tst.shared.u32 [%r4], %r6;\n\tld.shared.u32 %r7, [%r4];\n");
  check_known("\tst.shared.u32 [%r4], %r5;\n\tst.shared.u32 [%r4+4], %r6;\n\tld.shared.u32 %r7, [%r4+4];\n");
  check_known("\tst.shared.u32 [%r4], %r5;\n\tst.shared.u32 [%r4], %r6;\n\tld.shared.u32 %r7, [%r4];\n");
}

TEST_CASE("A register that was unknown is known once it is loaded anew") {
  check_known("\tst.shared.u32 [%r4], %r6;\n\tmov.u32 %r7, %r5;\n\tld.shared.u32 %r7, [%r4];\n");
}

TEST_CASE("Every result of an instruction is unknown if an operand is, and known if none is") {
  check_unknown("\tmov.b64 %rd2, {%r6, %r5};\n\tmov.b64 {%r8, %r7}, %rd2;\n");
  check_known("\tmov.b64 %rd2, {%r6, %r6};\n\tmov.b64 {%r8, %r7}, %rd2;\n");
  // A shuffle writes its register anew.
  check_known("\tmov.u32 %r7, %r5;\n\tshfl.sync.idx.b32 %r7, %r6, 0, 31, -1;\n");
  check_unknown("\tmov.u32 %r7, %r6;\n\tshfl.sync.idx.b32 %r7, %r5, 0, 31, -1;\n");
}

TEST_CASE("What is unknown of a register is so in the lanes that have got it") {
  const std::string first = "\tmov.u32 %r7, %r6;\n\tsetp.ne.u32 %p2, %r6, 0;\n\t@%p2 bra OTHERS;\n";
  // Lane 0 writes a number over it, in whatever row.
  check_known("\tmov.u32 %r7, %r5;\n\tmov.u32 %r7, 3;\n" + first + "\tmov.u32 %r7, 4;\nOTHERS:\n");
  check_known("\tadd.u32 %r8, %r5, 1;\n\tst.shared.u32 [%r4], %r8;\n" + first +
              "\tmov.u32 %r9, 4;\n\tadd.u32 %r7, %r9, 1;\nOTHERS:\n");
  check_unknown(first + "\tmov.u32 %r7, %r5;\nOTHERS:\n");
}

TEST_CASE("What copies bring is unknown") {
  check_unknown(
      "\tcp.async.ca.shared.global [%r4], [%rd1], 4;\n\tcp.async.wait_all;\n\tld.shared.u32 %r7, [%r4];\n");
  check_unknown(
      "\tsetp.ne.u32 %p2, %r6, 0;\n\t@%p2 bra READY;\n\tmbarrier.init.shared::cta.b64 [%r3], 1;\n"
      "\tfence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;\n"
      "\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;\n"
      "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 1024, [%r3];\n"
      "READY:\n\tbar.warp.sync -1;\nWAIT:\n\tmbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n"
      "\t@!%p3 bra WAIT;\n\tld.shared.u32 %r7, [%r4];\n");
}

TEST_CASE(
    "On the models, elements of narrow vectors lie next to each other, and cp.async reads nothing where told so") {
  const auto check = [](const std::string& body, const std::string& is) {
    const RunResult result =
        run_of(body + "\tsetp.ne.u32 %p2, %r8, " + is + ";\n\t@%p2 trap;\n\tmov.u32 %r7, 0;\n", "full");
    INFO(body);
    INFO(result.report);
    CHECK(result.outcome == Outcome::pass);
  };
  const std::string fill = "\tst.shared.v2.b32 [%r4], {0x04030201, 0x08070605};\n";
  check(fill + "\t{ .reg .b16 %h<4>; ld.shared.v4.u8 {%h0, %h1, %h2, %h3}, [%r4]; cvt.u32.u16 %r8, %h2; }\n", "3");
  check(fill + "\t{ .reg .b16 %h<4>; ld.shared.v2.u16 {%h0, %h1}, [%r4+4]; cvt.u32.u16 %r8, %h1; }\n", "0x0807");
  check(
      "\tst.shared.u32 [%r4], 7;\n\tsetp.eq.u32 %p3, %r6, %r6;\n\tcp.async.ca.shared.global [%r4], [%rd1], 4, "
      "%p3;\n"
      "\tcp.async.wait_all;\n\tld.shared.u32 %r8, [%r4];\n",
      "0");
}
