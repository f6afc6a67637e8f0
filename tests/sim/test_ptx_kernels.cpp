// SPDX-License-Identifier: Apache-2.0
// A kernel that is given as PTX: right as it is written, and each edit of its text is found as the same mistake in
// role code is.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

using Edits = std::vector<std::pair<std::string, std::string>>;

/// scenarios/ptx/gemm.ptx with texts in place of others, the first occurrence of each.
host::Scenario edited(const Edits& edits, std::vector<std::string> sets = {}) {
  static const ScratchDirectory directory;
  static int number = 0;
  const auto folder = std::filesystem::path(source_dir()) / "scenarios/ptx";
  std::string text = text_of(folder / "gemm.ptx");
  for (const auto& [from, to] : edits) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  const auto file = directory.write(fmt::format("edited{}.ptx", number++), text);
  sets.push_back(fmt::format("problem.ptx=\"{}\"", file.string()));
  return host::load_scenario(folder / "gemm.toml", sets);
}
host::Scenario edited(const std::string& from, const std::string& to) { return edited(Edits{{from, to}}); }

/// The edited kernel ends as a finding or hang of that id, named with the role and the line of the PTX.
void check_report(const std::string& from, const std::string& to, const std::vector<std::string>& parts) {
  const RunResult result = run_in_child(edited(from, to));
  INFO(from);
  INFO(result.report);
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(result.report.find(part) != std::string::npos);
  }
}

bool warns_of(const RunResult& result, const std::string& id) {
  return std::any_of(result.warnings.begin(), result.warnings.end(), [&](const Finding& f) { return f.id == id; });
}

}  // namespace

TEST_CASE("a kernel that is given as PTX verifies and nothing is found") {
  const RunResult result = run_in_child(load_by_name("ptx/gemm"));
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
}

TEST_CASE("a producer that waits for the release of what it has not filled is to blame, not who has exited") {
  check_report("@%p6 bra LOAD;\n", R"(@%p6 bra LOAD;
	shr.u32 %r16, %r14, 1;
	and.b32 %r16, %r16, 1;
	and.b32 %r15, %r14, 1;
	shl.b32 %r17, %r15, 3;
	add.u32 %r18, %r8, %r17;
	xor.b32 %r20, %r16, 1;
DRAIN:
	mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r18], %r20;
	@!%p5 bra DRAIN;
AGAIN:
	mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r18], %r16;
	@!%p5 bra AGAIN;
)",
               {"load waits for the release of a fill that it has not made", "at fault: load"});
}

TEST_CASE("a kernel that is given as PTX runs under jitter and without data") {
  for (const char* set : {"run.jitter=1", "run.jitter=7", "run.data=none", "run.numerics=b200"}) {
    INFO(set);
    const RunResult result =
        run_in_child(host::load_scenario(std::filesystem::path(source_dir()) / "scenarios/ptx/gemm.toml", {set}));
    INFO(result.report);
    CHECK(result.outcome == Outcome::pass);
  }
}

TEST_CASE("PTX with 16 bytes too many in expect_tx: the hang names the instruction") {
  check_report("_, [%r19], 24576;", "_, [%r19], 24592;",
               {"HANG", "full[0]", "misses 16 of 24,592 bytes", "expect_tx counts 16 bytes more", "load (warp 0)"});
}

TEST_CASE("PTX with 16 bytes too few in expect_tx: the hang names the instruction") {
  check_report("_, [%r19], 24576;", "_, [%r19], 24560;",
               {"HANG", "the copies of this phase deliver 16 bytes more than expect_tx counts", "load (warp 0)"});
}

TEST_CASE("PTX that waits for the wrong parity of an empty stage hangs there") {
  check_report("xor.b32 %r16, %r16, 1; ", "// ",
               {"HANG", "load (warp 0)", "waits for empty[0] parity 0", "tcgen05.commit of mma (warp 1)"});
}

TEST_CASE("PTX without the commit that hands a stage back hangs there") {
  check_report("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r18];", "",
               {"HANG", "load (warp 0)", "empty[0]", "nobody has arrived on it in this run"});
}

TEST_CASE("PTX whose tcgen05.ld is executed by one lane is found") {
  check_report("\ttcgen05.ld.sync", "\t@!%p1 tcgen05.ld.sync", {"TC2", "tcgen05.ld with 1 of 32 lanes", "edited"});
}

TEST_CASE("PTX without a fence behind the wait for the accumulator is warned of, as role code is") {
  const RunResult result =
      run_in_child(edited("@!%p5 bra WAIT_DONE;\n\ttcgen05.fence::after_thread_sync;", "@!%p5 bra WAIT_DONE;"));
  CHECK(result.outcome == Outcome::pass);
  CHECK(warns_of(result, "TC16"));
}

TEST_CASE("PTX that reads a register of tcgen05.ld before the wait is warned of") {
  const RunResult result = run_in_child(edited("tcgen05.wait::ld.sync.aligned;", ""));
  CHECK(warns_of(result, "TC18"));
}

TEST_CASE("PTX without the fence behind mbarrier.init is warned of") {
  CHECK(warns_of(run_in_child(edited("fence.mbarrier_init.release.cluster;", "")), "MB14"));
}

TEST_CASE("PTX with a wrong coordinate computes wrong numbers") {
  CHECK(run_in_child(edited("shl.b32 %r23, %r4, 7;", "shl.b32 %r23, %r4, 6;")).outcome == Outcome::mismatch);
}

TEST_CASE("PTX that traps ends with the finding") {
  check_report("FREED:\n\tret;", "FREED:\n\ttrap;", {"TR1", "trap"});
}

TEST_CASE("a form of PTX that is not implemented ends the run only where it is executed") {
  const RunResult executed = run_in_child(
      edited("\tbar.sync 0;", "\tmultimem.red.relaxed.sys.global.add.u32 [%rd10], %r1;\n\tbar.sync 0;"));
  INFO(executed.report);
  CHECK(executed.report.find("not implemented: multimem.red") != std::string::npos);
  const RunResult passed = run_in_child(
      edited("\tbar.sync 0;", "\t@%p9 multimem.red.relaxed.sys.global.add.u32 [%rd10], %r1;\n\tbar.sync 0;"));
  INFO(passed.report);
  CHECK(passed.outcome == Outcome::pass);
}

TEST_CASE("lanes that part come together: a loop whose length differs by lane, and an exchange behind it") {
  // Each lane counts to its number; the sum of the warp's counts is 31 * 32 / 2 = 496.
  const std::string loop = R"(
	mov.u32 %r40, %laneid;
	mov.u32 %r41, 0;
COUNT:
	setp.ge.u32 %p9, %r41, %r40;
	@%p9 bra COUNTED;
	add.u32 %r41, %r41, 1;
	bra COUNT;
COUNTED:
	redux.sync.add.u32 %r42, %r41, 0xffffffff;
	setp.eq.u32 %p9, %r42, 496;
	@%p9 bra RIGHT;
	trap;
RIGHT:
	bar.sync 0;)";
  const RunResult result = run_in_child(edited("\tbar.sync 0;", loop));
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
}

TEST_CASE("a lane that waits lets the others of its warp go on") {
  // Lane 0 of warp 3 waits for a phase that lane 1 completes: without progress of each lane it would hang.
  const std::string wait = R"(
	setp.ne.u32 %p9, %r2, 3;
	@%p9 bra LEFT;
	and.b32 %r40, %r1, 31;
	setp.ne.u32 %p9, %r40, 2;
	@%p9 bra INITIALISED;
	mbarrier.init.shared::cta.b64 [own], 1;
	fence.mbarrier_init.release.cluster;
INITIALISED:
	bar.warp.sync 0xffffffff;
	setp.ne.u32 %p9, %r40, 0;
	@%p9 bra OTHERS;
WAIT_OWN:
	mbarrier.try_wait.parity.shared::cta.b64 %p9, [own], 0;
	@!%p9 bra WAIT_OWN;
	bra LEFT;
OTHERS:
	setp.ne.u32 %p9, %r40, 1;
	@%p9 bra LEFT;
	mbarrier.arrive.shared::cta.b64 _, [own];
LEFT:
	bar.warp.sync 0xffffffff;
	bar.sync 0;)";
  const RunResult result = run_in_child(
      edited({{"\t.shared .align 4 .b32 tmem;", "\t.shared .align 4 .b32 tmem;\n\t.shared .align 8 .b64 own;"},
              {"\tbar.sync 0;", wait}}));
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
}

TEST_CASE("an .aligned instruction waits for the lanes of its warp that wait for an mbarrier") {
  // The elected lane of DeepGEMM's load waits while the others come to the cluster barrier at the kernel's end.
  const std::string meeting = R"(
	setp.ne.u32 %p9, %r2, 3;
	@%p9 bra MEET;
	and.b32 %r40, %r1, 31;
	setp.ne.u32 %p9, %r40, 0;
	@%p9 bra MEET;
	mbarrier.init.shared::cta.b64 [own], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [own], 128;
	mov.u32 %r41, own;
	add.u32 %r41, %r41, 128;
	ld.param.u64 %rd10, [c];
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r41], [%rd10], 128, [own];
WAIT_OWN:
	mbarrier.try_wait.parity.shared::cta.b64 %p9, [own], 0;
	@!%p9 bra WAIT_OWN;
MEET:
	barrier.cluster.arrive.relaxed.aligned;
	barrier.cluster.wait.aligned;
	bar.sync 0;)";
  const RunResult result = run_in_child(edited(
      {{"\t.shared .align 4 .b32 tmem;", "\t.shared .align 4 .b32 tmem;\n\t.shared .align 128 .b64 own[32];"},
       {"\tbar.sync 0;", meeting}}));
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
}

TEST_CASE("an exchange whose mask names lanes that have gone another way is found") {
  const std::string halves = R"(
	and.b32 %r40, %r1, 31;
	setp.ge.u32 %p9, %r40, 16;
	@%p9 bra AROUND;
	shfl.sync.bfly.b32 %r41, %r40, 1, 31, 0xffffffff;
AROUND:
	bar.sync 0;)";
  check_report("\tbar.sync 0;", halves, {"TC2", "shfl.sync.bfly.b32 by 16 lanes, of 32 that its mask names"});
}

TEST_CASE("cp.async reads as many bytes as it is told, and makes zeros of the others") {
  // Lane l copies 16 bytes of A, but reads 8 of them where l is odd, and 4 or none by the other forms.
  const std::string copies = R"(
	setp.ne.u32 %p9, %r2, 3;
	@%p9 bra COPIED;
	mov.u32 %r40, %laneid;
	shl.b32 %r41, %r40, 4;
	mov.u32 %r42, own;
	add.u32 %r42, %r42, %r41;
	ld.param.u64 %rd10, [c];
	and.b32 %r43, %r40, 1;
	setp.eq.u32 %p9, %r43, 1;
	selp.b32 %r44, 8, 16, %p9;
	cp.async.cg.shared.global [%r42], [%rd10], 16, %r44;
	cp.async.wait_all;
	ld.shared.v2.b64 {%rd11, %rd12}, [%r42];
	setp.ne.b64 %p8, %rd11, 0xffffffffffffffff;
	@%p8 trap;
	selp.b64 %rd13, 0, 0xffffffffffffffff, %p9;
	setp.ne.b64 %p8, %rd12, %rd13;
	@%p8 trap;
	cp.async.ca.shared.global [%r42], [%rd10], 4, %p9;
	cp.async.wait_all;
	ld.shared.b32 %r45, [%r42];
	selp.b32 %r44, 0, 0xffffffff, %p9;
	setp.ne.b32 %p8, %r45, %r44;
	@%p8 trap;
COPIED:
	bar.sync 0;)";
  const RunResult result = run_in_child(
      edited({{"\t.shared .align 4 .b32 tmem;", "\t.shared .align 4 .b32 tmem;\n\t.shared .align 16 .b8 own[512];"},
              {"\tbar.sync 0;", copies}}));
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
}

TEST_CASE("warps that store the same bytes at one place are warned of, others are found") {
  const auto storing = [](const char* value) {
    return run_in_child(
        edited({{"\t.shared .align 4 .b32 tmem;", "\t.shared .align 4 .b32 tmem;\n\t.shared .align 4 .b32 own;"},
                {"\tbar.sync 0;", fmt::format("\tst.shared.b32 [own], {};\n\tbar.sync 0;", value)}}));
  };
  const RunResult same = storing("%r5"), different = storing("%r2");
  INFO(same.report);
  CHECK(same.outcome == Outcome::pass);
  CHECK(warns_of(same, "SM3"));
  INFO(different.report);
  CHECK(different.report.find("FINDING SM3") != std::string::npos);
}

TEST_CASE("setmaxnreg goes into the direction that its name says") {
  const auto with = [](const char* instruction) {
    return run_in_child(
        edited({{"\tbar.sync 0;", fmt::format("\t{}.sync.aligned.u32 160;\n\tbar.sync 0;", instruction)}},
               {"run.registers=168"}));
  };
  const RunResult fewer = with("setmaxnreg.dec"), more = with("setmaxnreg.inc");
  INFO(fewer.report);
  CHECK(fewer.outcome == Outcome::pass);
  INFO(more.report);
  CHECK(more.report.find("FINDING RG1") != std::string::npos);
  CHECK(more.report.find("setmaxnreg.inc 160 by a warp whose threads have 168 registers") != std::string::npos);
}

TEST_CASE("match.any gives each lane those of its value, match.all whether all have one") {
  // Values 0 and 1 by the lane's lowest bit: an odd lane gets 0xaaaaaaaa, and not all are alike.
  const std::string matches = R"(
	mov.u32 %r40, %laneid;
	and.b32 %r41, %r40, 1;
	match.any.sync.b32 %r42, %r41, 0xffffffff;
	setp.eq.u32 %p9, %r41, 1;
	selp.b32 %r41, 0xaaaaaaaa, 0x55555555, %p9;
	setp.ne.u32 %p9, %r42, %r41;
	@%p9 trap;
	match.all.sync.b32 %r42|%p9, %r40, 0xffffffff;
	@%p9 trap;
	bar.sync 0;)";
  const RunResult result = run_in_child(edited("\tbar.sync 0;", matches));
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
}

TEST_CASE("forms whose name goes on behind that of a known one are not taken for it") {
  const RunResult sparse =
      run_in_child(edited("tcgen05.mma.cta_group::1.kind::f16", "tcgen05.mma.sp.cta_group::1.kind::f16"));
  INFO(sparse.report);
  CHECK(sparse.report.find("not implemented: tcgen05.mma.sp without [metadata]") != std::string::npos);
  const RunResult reduced = run_in_child(edited("tcgen05.ld.sync", "tcgen05.ld.red.sync"));
  INFO(reduced.report);
  CHECK(reduced.report.find("not implemented: tcgen05.ld.red.sync") != std::string::npos);
}
