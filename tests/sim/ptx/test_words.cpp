// SPDX-License-Identifier: Apache-2.0
// Words that hand over other memory: strong loads and stores race with no other strong one, and what comes before a
// release, or a fence and a relaxed store, is ordered before what follows the load that has read it (PTX 8).
#include <fmt/format.h>

#include "catch.h"
#include "run_ptx.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// Thread 0 of CTA 0 executes `writes`, thread 32 of CTA 0 or thread 0 of CTA 1 `reads`.  %rd1: 128 bytes of zeros
/// in global memory; %r2: `data`, %r3: `flag` in shared memory, which start as zeros.
RunResult ran(const std::string& writes, const std::string& reads, int ctas = 1) {
  return run_ptx(fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry words(.param .u64 memory)
.reqntid 64
{{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<8>;
	.shared .align 8 .b64 bar;
	.shared .align 8 .b32 data[2];
	.shared .align 4 .b32 flag;
	ld.param.u64 %rd1, [memory];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, data;
	mov.u32 %r3, flag;
	mov.u32 %r9, bar;
	mov.u32 %r4, 0;
	mov.u32 %r5, 1;
	mov.u32 %r6, 7;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 st.shared.u32 [%r2], %r4;
	@%p1 st.shared.u32 [%r2+4], %r4;
	@%p1 st.shared.u32 [%r3], %r4;
	@%p1 mbarrier.init.shared::cta.b64 [%r9], 1;
	fence.mbarrier_init.release.cluster;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	mov.u32 %r7, %ctaid.x;
	mov.u32 %r8, {reader_thread};
	setp.eq.and.u32 %p2, %r7, 0, %p1;
	setp.eq.u32 %p3, %r1, %r8;
	setp.eq.and.u32 %p3, %r7, {reader_cta}, %p3;
	@!%p2 bra READER;
{writes}
READER:
	@!%p3 bra OVER;
{reads}
OVER:
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
}}
)",
                             fmt::arg("writes", writes), fmt::arg("reads", reads), fmt::arg("reader_cta", ctas - 1),
                             fmt::arg("reader_thread", ctas > 1 ? 0 : 32)),
                 ctas, {"zeros"});
}

/// A store of data, then of the flag; a loop until the flag is there, then a load of the data, which must be 7.
RunResult handed(const std::string& space, const std::string& data, const std::string& flag,
                 const std::string& before_store, const std::string& store, const std::string& load,
                 const std::string& behind_load, int ctas = 1) {
  return ran(
      fmt::format("\tst.{0}.u32 [{1}], %r6;\n\t{3}\n\t{4}.u32 [{2}], %r5;", space, data, flag, before_store, store),
      fmt::format("POLL:\n\t{3}.u32 %r10, [{2}];\n\tsetp.eq.u32 %p4, %r10, 0;\n\t@%p4 bra POLL;\n\t{4}\n"
                  "\tld.{0}.u32 %r11, [{1}];\n\tsetp.ne.u32 %p5, %r11, 7;\n\t@%p5 trap;",
                  space, data, flag, load, behind_load),
      ctas);
}
RunResult in_shared(const std::string& before, const std::string& store, const std::string& load,
                    const std::string& behind) {
  return handed("shared", "%r2", "%r3", before, store, load, behind);
}
RunResult in_global(const std::string& before, const std::string& store, const std::string& load,
                    const std::string& behind) {
  return handed("global", "%rd1", "%rd1+64", before, store, load, behind, 2);
}

std::string id_found(const RunResult& r) { return r.findings.empty() ? "" : r.findings.front().id; }

}  // namespace

TEST_CASE("Words of shared memory hand over what comes before a release, or a fence and a relaxed store") {
  const auto check_clean = [](const RunResult& r) {
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::pass);
  };
  check_clean(in_shared("", "st.release.cta.shared", "ld.acquire.cta.shared", ""));
  check_clean(
      in_shared("fence.acq_rel.cta;", "st.relaxed.cta.shared", "ld.relaxed.cta.shared", "fence.acq_rel.cta;"));
  check_clean(in_shared("membar.cta;", "st.volatile.shared", "ld.volatile.shared", "membar.cta;"));
  CHECK(id_found(in_shared("", "st.relaxed.cta.shared", "ld.relaxed.cta.shared", "")) == "SM3");
  CHECK(id_found(in_shared("", "st.volatile.shared", "ld.volatile.shared", "membar.cta;")) == "SM3");
  CHECK(id_found(in_shared("", "st.release.cta.shared", "ld.relaxed.cta.shared", "")) == "SM3");
}

TEST_CASE("Atomics on shared memory hand over what comes before them by their order") {
  const auto handed_by = [](const std::string& sem, const std::string& before, const std::string& behind) {
    return ran(
        fmt::format("\tst.shared.u32 [%r2], %r6;\n\t{}\n\tatom.{}.cta.shared.add.u32 %r12, [%r3], 1;", before, sem),
        fmt::format("POLL:\n\tatom.{}.cta.shared.add.u32 %r10, [%r3], 0;\n\tsetp.eq.u32 %p4, %r10, 0;\n"
                    "\t@%p4 bra POLL;\n\t{}\n\tld.shared.u32 %r11, [%r2];\n\tsetp.ne.u32 %p5, %r11, 7;\n"
                    "\t@%p5 trap;",
                    sem, behind));
  };
  CHECK(handed_by("acq_rel", "", "").outcome == Outcome::pass);
  CHECK(handed_by("relaxed", "fence.acq_rel.cta;", "fence.acq_rel.cta;").outcome == Outcome::pass);
  CHECK(id_found(handed_by("relaxed", "", "fence.acq_rel.cta;")) == "SM3");
}

TEST_CASE("Relaxed and volatile words of global memory hand over what fences say") {
  const auto check_clean = [](const RunResult& r) {
    CAPTURE(said(r));
    CHECK(r.outcome == Outcome::pass);
  };
  check_clean(
      in_global("fence.acq_rel.gpu;", "st.relaxed.gpu.global", "ld.relaxed.gpu.global", "fence.acq_rel.gpu;"));
  check_clean(in_global("membar.gl;", "st.volatile.global", "ld.volatile.global", "membar.gl;"));
  CHECK(id_found(in_global("", "st.relaxed.gpu.global", "ld.relaxed.gpu.global", "")) == "GM3");
  CHECK(id_found(in_global("fence.acq_rel.cta;", "st.relaxed.gpu.global", "ld.relaxed.gpu.global",
                           "fence.acq_rel.gpu;")) == "GM3");
}

TEST_CASE("Words of 64 bits are released and acquired") {
  const RunResult r =
      ran("\tst.global.u32 [%rd1], %r6;\n\tmov.b64 %rd2, {%r4, %r5};\n\tst.release.gpu.global.u64 [%rd1+64], %rd2;",
          "POLL:\n\tld.acquire.gpu.global.u64 %rd3, [%rd1+64];\n\tsetp.eq.u64 %p4, %rd3, 0;\n\t@%p4 bra POLL;\n"
          "\tld.global.u32 %r11, [%rd1];\n\tsetp.ne.u32 %p5, %r11, 7;\n\t@%p5 trap;",
          2);
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::pass);
}

TEST_CASE("A weak access races with a strong one") {
  CHECK(id_found(ran("\tst.global.u32 [%rd1], %r6;", "\tld.volatile.global.u32 %r10, [%rd1];", 2)) == "GM3");
  CHECK(id_found(ran("\tst.relaxed.gpu.global.u32 [%rd1], %r6;", "\tld.global.u32 %r10, [%rd1];", 2)) == "GM3");
  CHECK(ran("\tst.relaxed.gpu.global.u32 [%rd1], %r6;", "\tld.volatile.global.u32 %r10, [%rd1];", 2).outcome ==
        Outcome::pass);
  CHECK(id_found(ran("\tst.shared.u32 [%r2], %r6;", "\tld.volatile.shared.u32 %r10, [%r2];")) == "SM3");
}

TEST_CASE("A flag that two set, the second what is there already, is a warning, another value is a finding") {
  const std::string late = "\tnanosleep.u32 4000;\n\tst.global.u32 [%rd1], ";
  const RunResult r = ran("\tst.global.u32 [%rd1], %r6;", late + "%r6;", 2);
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::pass);
  REQUIRE(r.warnings.size() == 1);
  CHECK(r.warnings[0].id == "GM3");
  CHECK(r.warnings[0].message.find("writes the bytes that are there already") != std::string::npos);
  CHECK(id_found(ran("\tst.global.u32 [%rd1], %r6;", late + "%r4;", 2)) == "GM3");
}

TEST_CASE("A plain store behind an own atomic comes behind the atomics before it") {
  const std::string last =
      "\tatom.relaxed.gpu.global.add.u32 %r10, [%rd1], 1;\n\tsetp.eq.u32 %p4, %r10, 1;\n"
      "\t@%p4 st.global.u32 [%rd1], %r4;";
  const RunResult r = ran(last, last, 2);
  CAPTURE(said(r));
  CHECK(r.outcome == Outcome::pass);
  CHECK(id_found(ran("\tatom.relaxed.gpu.global.add.u32 %r10, [%rd1], 1;", "\tst.global.u32 [%rd1], %r4;", 2)) ==
        "GM3");
}

TEST_CASE("Who polls a volatile word that nobody writes waits for ever, and is told so") {
  const RunResult r = ran("",
                          "POLL:\n\tld.volatile.global.u32 %r10, [%rd1];\n\tsetp.eq.u32 %p4, %r10, 0;\n"
                          "\t@%p4 bra POLL;");
  CHECK(r.outcome == Outcome::hang);
  // Reading it again and again is no wait.
  CHECK(ran("",
            "\tmov.u32 %r12, 0;\nAGAIN:\n\tld.volatile.global.u32 %r10, [%rd1];\n\tadd.u32 %r11, %r11, %r10;\n"
            "\tadd.u32 %r12, %r12, 1;\n\tsetp.lt.u32 %p4, %r12, 9;\n\t@%p4 bra AGAIN;")
            .outcome == Outcome::pass);
}

TEST_CASE("red.async and wide st.async change another CTA's memory and complete their bytes there") {
  const std::string waits =
      "\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], {};\nPOLL:\n"
      "\tmbarrier.try_wait.parity.shared::cta.b64 %p4, [%r9], 0;\n\t@!%p4 bra POLL;\n";
  const std::string maps =
      "\tmov.u32 %r10, 1;\n\tmapa.shared::cluster.u32 %r11, %r2, %r10;\n"
      "\tmapa.shared::cluster.u32 %r12, %r9, %r10;\n";
  const RunResult red = ran(
      maps +
          "\tred.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r11], %r6, [%r12];",
      fmt::format(fmt::runtime(waits), 4) +
          "\tld.shared.u32 %r11, [%r2];\n\tsetp.ne.u32 %p5, %r11, 7;\n\t@%p5 trap;",
      2);
  CAPTURE(said(red));
  CHECK(red.outcome == Outcome::pass);
  const RunResult wide =
      ran(maps +
              "\tmov.b64 %rd2, {%r5, %r6};\n"
              "\tst.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r11], %rd2, [%r12];",
          fmt::format(fmt::runtime(waits), 8) +
              "\tld.shared.u32 %r11, [%r2+4];\n\tsetp.ne.u32 %p5, %r11, 7;\n\t@%p5 trap;",
          2);
  CAPTURE(said(wide));
  CHECK(wide.outcome == Outcome::pass);
}

// A loop of atomics that change nothing computes for ever, unless it is known for what it waits.
TEST_CASE("a word that is tried with an atomic: who frees it late is waited for, nobody is a hang") {
  const std::string tries =
      "POLL:\n\tatom.acquire.gpu.global.cas.b32 %r10, [%rd1], 1, 2;\n\tsetp.ne.u32 %p4, %r10, 1;\n\t@%p4 bra POLL;";
  const std::string reads =
      "POLL:\n\tatom.global.add.u32 %r10, [%rd1], 0;\n\tsetp.eq.u32 %p4, %r10, 0;\n\t@%p4 bra POLL;";
  const std::string late =
      "\tmov.u32 %r11, 0;\nLATE:\n\tadd.u32 %r11, %r11, 1;\n\tsetp.lt.u32 %p5, %r11, 3000;\n"
      "\t@%p5 bra LATE;\n\tst.release.gpu.global.u32 [%rd1], %r5;";
  for (const std::string& loop : {tries, reads}) {
    const RunResult freed = ran(late, loop, 2);
    INFO(freed.report);
    CHECK(freed.outcome == Outcome::pass);
    const RunResult never = ran("", loop, 2);
    INFO(never.report);
    CHECK(never.outcome == Outcome::hang);
    REQUIRE(never.findings.size() == 1);
    CHECK(never.findings[0].cause.find("nobody stores a value other than 0 to ") != std::string::npos);
  }
}

// Not only what a release stores: a fence and a relaxed atomic behind it hand on a strong store, too, and a
// thread's own accesses come in their order.
TEST_CASE("A strong store is there before what follows its fence, and before the thread's own next access") {
  const std::string loads =
      "POLL:\n\tld.volatile.global.u32 %r10, [%rd1];\n\tsetp.eq.u32 %p4, %r10, 0;\n"
      "\t@%p4 bra POLL;\n\tfence.acq_rel.gpu;\n\tld.volatile.global.u32 %r11, [%rd1+4];\n"
      "\tsetp.ne.u32 %p5, %r11, 7;\n\t@%p5 trap;";
  for (const std::string store : {"st.volatile.global", "st.relaxed.gpu.global"})
    for (const std::string flag :
         {"atom.relaxed.gpu.global.exch.b32 %r12, [%rd1], %r5;", "red.relaxed.gpu.global.add.u32 [%rd1], %r5;"}) {
      const RunResult r = ran("\t" + store + ".u32 [%rd1+4], %r6;\n\tfence.acq_rel.gpu;\n\t" + flag, loads, 2);
      CAPTURE(store, flag, said(r));
      CHECK(r.outcome == Outcome::pass);
    }
  for (const std::string store : {"st.volatile.global", "st.release.gpu.global"}) {
    const RunResult r =
        ran("\t" + store +
                ".u32 [%rd1], %r6;\n\tatom.relaxed.gpu.global.add.u32 %r10, [%rd1], 1;\n"
                "\tsetp.ne.u32 %p4, %r10, 7;\n\t@%p4 trap;\n\tld.volatile.global.u32 %r10, [%rd1];\n"
                "\tsetp.ne.u32 %p4, %r10, 8;\n\t@%p4 trap;",
            "", 2);
    CAPTURE(store, said(r));
    CHECK(r.outcome == Outcome::pass);
    const RunResult plain = ran("\t" + store +
                                    ".u32 [%rd1], %r6;\n\tld.global.u32 %r10, [%rd1];\n"
                                    "\tsetp.ne.u32 %p4, %r10, 7;\n\t@%p4 trap;",
                                "", 2);
    CAPTURE(said(plain));
    CHECK(plain.outcome == Outcome::pass);
  }
}

TEST_CASE("A word that one lane polls with an atomic is waited for though others of its warp have yet to exit") {
  for (const std::string type : {"u32", "u64"}) {
    const std::string bits = type == "u64" ? "%rd2" : "%r2";
    const RunResult r = run_ptx(
        ".version 8.7\n.target sm_100a\n.address_size 64\n"
        ".visible .entry polls(.param .u64 memory)\n.reqntid 64\n{\n"
        "\t.reg .pred %p<3>;\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<3>;\n"
        "\tld.param.u64 %rd1, [memory];\n\tmov.u32 %r1, %tid.x;\n"
        "\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra OVER;\nPOLL:\n"
        "\tatom.global.add." +
            type + " " + bits + ", [%rd1], 0;\n\tsetp.eq." + type + " %p2, " + bits +
            ", 0;\n\t@%p2 bra POLL;\nOVER:\n\tret;\n}\n",
        1, {"zeros"});
    CAPTURE(type, said(r));
    CHECK(r.outcome == Outcome::hang);
  }
}
