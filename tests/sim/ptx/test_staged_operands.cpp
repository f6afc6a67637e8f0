// SPDX-License-Identifier: Apache-2.0
// Where numbers come from when threads bring the operands: ld.global, st.shared, a proxy fence, one MMA; along K,
// and B along N.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "kernels/isa/instr_descriptor.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// C = A B^T of 128 x 64 x 16, f16: thread t brings row t of A and of B, and stores row t of C.
struct Staged {
  std::string row_of_a = "%r1";    ///< the row that a thread brings
  std::string row_of_c = "%r1";    ///< and the one that it stores
  bool in_pieces = false;          ///< in words of 4 bytes, else 16 at a time
  int m = 128;                     ///< that the instruction descriptor says
  std::string contents_of_a;       ///< else random
  bool b_along_n = false;          ///< B is [k][n]: thread t brings 16 bytes, eight columns of k = t / 8
  std::string piece_of_b = "%r1";  ///< which of them
  bool transposes_b = b_along_n;   ///< in the instruction descriptor

  /// 32 bytes of %rd10 to the two chunks of a row in shared memory at %r8.
  std::string copy(int rows) const {
    if (!in_pieces)
      return fmt::format(
          "\tld.global.v4.b32 {{%r40, %r41, %r42, %r43}}, [%rd10];\n"
          "\tld.global.v4.b32 {{%r44, %r45, %r46, %r47}}, [%rd10+16];\n"
          "\tst.shared.v4.b32 [%r8], {{%r40, %r41, %r42, %r43}};\n"
          "\tst.shared.v4.b32 [%r8+{}], {{%r44, %r45, %r46, %r47}};\n",
          rows * 16);
    std::string text;
    for (int word = 0; word < 8; ++word)
      text += fmt::format("\tld.global.b32 %r40, [%rd10+{}];\n\tst.shared.b32 [%r8+{}], %r40;\n", 4 * word,
                          word / 4 * rows * 16 + word % 4 * 4);
    return text;
  }

  /// B without swizzle: along K as A, along N in core matrices of eight k, two of them for eight columns.
  std::string copy_b() const {
    if (b_along_n)
      return fmt::format(
          "\tmul.wide.u32 %rd10, {}, 16;\n\tadd.u64 %rd10, %rd5, %rd10;\n"
          "\tshr.u32 %r33, %r1, 3;\n\tand.b32 %r34, %r1, 7;\n"
          "\tmad.lo.u32 %r8, %r33, 16, %r3;\n\tmad.lo.u32 %r8, %r34, 256, %r8;\n"
          "\tld.global.v4.b32 {{%r40, %r41, %r42, %r43}}, [%rd10];\n"
          "\tst.shared.v4.b32 [%r8], {{%r40, %r41, %r42, %r43}};\n",
          piece_of_b);
    return "\tsetp.ge.u32 %p3, %r1, 64;\n\t@%p3 bra STAGED;\n\tmul.wide.u32 %rd10, %r1, 32;\n"
           "\tadd.u64 %rd10, %rd5, %rd10;\n\tmad.lo.u32 %r8, %r1, 16, %r3;\n" +
           copy(64);
  }

  std::string text() const {
    std::string registers;
    for (int i = 0; i < 32; ++i) registers += fmt::format("{}%v{}", i == 0 ? "" : ", ", i);
    std::string out;
    for (int half = 0; half < 2; ++half) {
      out += fmt::format(
          "\ttcgen05.ld.sync.aligned.32x32b.x32.b32 {{{}}}, [%r13+{}];\n\ttcgen05.wait::ld.sync.aligned;\n",
          registers, 32 * half);
      for (int i = 0; i < 32; i += 4)
        out += fmt::format("\tst.global.v4.b32 [%rd12+{}], {{%v{}, %v{}, %v{}, %v{}}};\n", 128 * half + 4 * i, i,
                           i + 1, i + 2, i + 3);
    }
    const auto tile = [](int rows) {
      return make_smem_descriptor({0}, uint32_t(rows) * 16, 128, Swizzle::none).bits;
    };
    return fmt::format(
        R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry staged(.param .u64 a, .param .u64 b, .param .u64 c)
.reqntid 128
{{
	.reg .pred %p<16>;
	.reg .b32 %r<64>;
	.reg .b32 %v<32>;
	.reg .b64 %rd<32>;
	.shared .align 1024 .b8 a_tile[4096];
	.shared .align 1024 .b8 b_tile[2048];
	.shared .align 8 .b64 bar;
	.shared .align 4 .b32 slot;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, a_tile;
	mov.u32 %r3, b_tile;
	mov.u32 %r4, bar;
	mov.u32 %r5, slot;
	shr.u32 %r6, %r1, 5;
	setp.eq.u32 %p1, %r6, 0;
	setp.eq.u32 %p2, %r1, 0;
	@%p2 mbarrier.init.shared::cta.b64 [%r4], 1;
	fence.mbarrier_init.release.cluster;
	@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r5], 64;
	@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
	ld.param.u64 %rd4, [a];
	ld.param.u64 %rd5, [b];
	ld.param.u64 %rd6, [c];
	xor.b32 %r30, %r1, 1;
	and.b32 %r31, %r1, 126;
	mul.wide.u32 %rd10, {row_of_a}, 32;
	add.u64 %rd10, %rd4, %rd10;
	mad.lo.u32 %r8, %r1, 16, %r2;
	xor.b32 %r32, %r1, 64;
	shr.u32 %r33, %r1, 3;
	setp.eq.u32 %p5, %r33, 4;
	add.u32 %r35, %r1, 8;
	selp.u32 %r35, %r35, %r1, %p5;
{copy_a}{copy_b}STAGED:
	fence.proxy.async;
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	tcgen05.fence::after_thread_sync;
	ld.shared.b32 %r10, [%r5];
	shl.b32 %r12, %r6, 21;
	add.u32 %r13, %r10, %r12;
	@!%p2 bra WAIT;
	shr.u32 %r15, %r2, 4;
	cvt.u64.u32 %rd1, %r15;
	or.b64 %rd1, %rd1, {a_desc};
	shr.u32 %r15, %r3, 4;
	cvt.u64.u32 %rd2, %r15;
	or.b64 %rd2, %rd2, {b_desc};
	mov.u32 %r11, {idesc};
	setp.ne.u32 %p7, %r1, %r1;
	tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd1, %rd2, %r11, %p7;
	tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r4], 0;
	@!%p4 bra WAIT;
	bar.warp.sync -1;
	tcgen05.fence::after_thread_sync;
	mul.wide.u32 %rd12, {row_of_c}, 256;
	add.u64 %rd12, %rd6, %rd12;
{out}	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;
	ret;
}}
)",
        fmt::arg("row_of_a", row_of_a), fmt::arg("row_of_c", row_of_c), fmt::arg("copy_a", copy(128)),
        fmt::arg("copy_b", copy_b()), fmt::arg("a_desc", tile(128)),
        fmt::arg("b_desc", transposes_b ? make_smem_descriptor({0}, 128, 256, Swizzle::none).bits : tile(64)),
        fmt::arg("out", out),
        fmt::arg("idesc",
                 make_instr_descriptor(MmaKind::f16, DataType::f16, DataType::f16, DataType::f32, m, 64).bits |
                     (transposes_b ? 1u << 16 : 0)));
  }

  RunResult run() const {
    const ScratchDirectory folder;
    folder.write("k.ptx", text());
    const auto tensor = [](const char* name, const char* type, const char* shape, const char* contents) {
      return fmt::format("[[problem.tensor]]\nname = \"{}\"\ntype = \"{}\"\nshape = {}\n{}", name, type, shape,
                         contents);
    };
    std::string launch = "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n" +
                         tensor("A", "f16", "[128, 16]", contents_of_a.empty() ? "" : contents_of_a.c_str()) +
                         tensor("B", "f16", b_along_n ? "[16, 64]" : "[64, 16]", "") +
                         tensor("C", "f32", "[128, 64]", "contents = \"unwritten\"\n");
    for (const char* name : {"A", "B", "C"})
      launch += fmt::format("[[problem.argument]]\naddress = \"{}\"\n", name);
    launch += "[problem.check]\nproduct = [\"A\", \"B\", \"C\"]\n";
    if (b_along_n) launch += "b = \"k_n\"\n";
    launch += "[run]\nsms = 1\n";
    return run_in_child(host::load_scenario(folder.write("k.toml", launch), {"run.provenance=\"on\""}));
  }
};

}  // namespace

TEST_CASE("operands that threads bring: the kernel that the others differ from", "[provenance]") {
  for (const bool in_pieces : {false, true}) {
    const RunResult ran = Staged{.in_pieces = in_pieces}.run();
    INFO(ran.report);
    CHECK(ran.verified);
    CHECK(ran.outcome == Outcome::pass);
  }
}

TEST_CASE("operands that threads bring, all alike: which of them was stored is not doubted where results are right",
          "[provenance]") {
  for (const char* contents : {"contents = \"ones\"\n", "contents = \"zeros\"\n"}) {
    const RunResult ran = Staged{.contents_of_a = contents}.run();
    INFO(contents << ran.report);
    CHECK(ran.outcome == Outcome::pass);
    CHECK(ran.findings.empty());
    CHECK(ran.warnings.empty());
    CHECK(ran.provenance.not_looked_at ==
          std::vector<std::string>{"operands that threads bring, where the results are right"});
  }
}

TEST_CASE("operands that threads bring 16 bytes at a time are followed: the row of another thread",
          "[provenance]") {
  const RunResult ran = Staged{.row_of_a = "%r31"}.run();
  INFO(ran.report);
  REQUIRE(ran.findings.size() == 1);
  CHECK(ran.findings[0].id == "PV1");
  CHECK(ran.findings[0].message.find("A row 0 was used where A row 1 belongs") != std::string::npos);
  CHECK(ran.report.find("ld.global, and stored by the thread") != std::string::npos);
}

TEST_CASE("operands that threads bring: mistakes of the epilogue are not put down to A", "[provenance]") {
  for (const bool in_pieces : {false, true}) {
    const RunResult ran = Staged{.row_of_c = "%r30", .in_pieces = in_pieces}.run();
    INFO(ran.report);
    CHECK(ran.outcome == Outcome::mismatch);
    REQUIRE(ran.findings.size() == 1);
    CHECK(ran.findings[0].id == "PV2");
    // Stored in pieces, nobody knows which rows were multiplied.
    CHECK((ran.findings[0].message.find("is not known") != std::string::npos) == in_pieces);
    CHECK(ran.provenance.not_looked_at.size() == (in_pieces ? 1 : 0));
  }
}

TEST_CASE("operands that threads bring in pieces: half of the rows are not multiplied", "[provenance]") {
  const RunResult ran = Staged{.in_pieces = true, .m = 64}.run();
  INFO(ran.report);
  REQUIRE(!ran.findings.empty());
  CHECK(ran.findings[0].id == "TC13");  // the epilogue loads rows that the MMA has not made
  for (const Finding& f : ran.findings) CHECK(f.id != "PV1");
}

TEST_CASE("B along N is followed: columns, k, and the transpose bit", "[provenance]") {
  const RunResult right = Staged{.b_along_n = true}.run();
  INFO(right.report);
  CHECK(right.verified);
  CHECK(right.outcome == Outcome::pass);

  const auto cause = [](const Staged& kernel) {
    const RunResult ran = kernel.run();
    INFO(ran.report);
    REQUIRE(ran.findings.size() == 1);
    CHECK(ran.findings[0].id == "PV1");
    CHECK(ran.provenance.not_looked_at.empty());
    return ran.findings[0].message;
  };
  CHECK(cause({.b_along_n = true, .piece_of_b = "%r31"})
            .find("B columns 0-7 were used where B columns 8-15 belong") != std::string::npos);
  CHECK(cause({.b_along_n = true, .piece_of_b = "%r32"})
            .find("the elements along K of B column 0 lie in another order") != std::string::npos);
  // k 5 in the place of k 4: between the first and the last.
  CHECK(cause({.b_along_n = true, .piece_of_b = "%r35"})
            .find("the elements along K of B column 0 lie in another order") != std::string::npos);
  CHECK(cause({.b_along_n = true, .transposes_b = false})
            .find("B lies along N in global memory, and the MMA reads it along K as operand B") !=
        std::string::npos);
}
