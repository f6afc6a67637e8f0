// SPDX-License-Identifier: Apache-2.0
// Mistakes in the PTX of scenarios/ptx/gemm.ptx that touch other roles' bytes, or name the wrong parity: who is
// named.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

namespace fs = std::filesystem;

/// The first `old` behind the text `behind` becomes `by`.
struct Edit {
  std::string behind, old, by;
};

RunResult ran(const std::vector<Edit>& edits, const char* of = "ptx") {
  const fs::path folder = fs::path(source_dir()) / "scenarios" / of;
  std::ifstream in(folder / "gemm.ptx"), launch(folder / "gemm.toml");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  for (const Edit& edit : edits) {
    const size_t at = text.find(edit.old, text.find(edit.behind));
    REQUIRE(at != std::string::npos);
    text.replace(at, edit.old.size(), edit.by);
  }
  const ScratchDirectory scratch;
  scratch.write("gemm.ptx", text);
  return run_in_child(
      host::load_scenario(scratch.write("gemm.toml", {std::istreambuf_iterator<char>(launch), {}}), {}));
}

void check_says(const RunResult& result, const std::string& part) {
  INFO(result.report);
  CHECK(result.report.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("A parity that is never flipped is said to be that") {
  // Late enough to find the release of the first lap.
  const RunResult result = ran({{"LOAD:", "shr.u32 %r16, %r14, 1;", "nanosleep.u32 4000;\n\tmov.u32 %r16, 0;"}});
  CHECK(result.outcome == Outcome::hang);
  check_says(result, "load waits for parity 1 of empty[0] again, as in its wait before, and phase 0 has completed");
}

TEST_CASE("A stage index that begins again too early is said to be that") {
  const RunResult result = ran({{"MMA:\n", "and.b32 %r15, %r14, 1;", "mov.u32 %r15, 0;"},
                                {"MMA:\n", "shr.u32 %r16, %r14, 1;", "mov.u32 %r16, %r14;"}});
  CHECK(result.outcome == Outcome::hang);
  check_says(
      result,
      "mma has waited for stage 0 of full, which has 2 stages, 2 times: its stage index begins again too early");
}

TEST_CASE("An MMA that reads the stage before is named, and the stages of its commit and of the wait") {
  const RunResult result = ran({{"WAIT_FULL:", "mad.lo.u32 %r20, %r15, 24576, %r11;", "mov.u32 %r20, %r11;"}});
  CHECK(result.outcome == Outcome::findings);
  check_says(result, "; these MMAs are committed to empty[1], and load has waited for empty[0]");
  REQUIRE(!result.findings.empty());
  CHECK(result.findings[0].role == "mma");
}

TEST_CASE("A copy that all lanes execute is said to be that") {
  const RunResult result = ran({{"load warp", "@!%p4 bra EPILOGUE;", ""},
                                {"WAIT_EMPTY:", "mbarrier.arrive.expect_tx", "@%p4 mbarrier.arrive.expect_tx"}});
  check_says(result, "several lanes of load execute one copy, and each of them copies to the same bytes");
}

TEST_CASE("MMAs that all lanes execute are said to be that") {
  const RunResult result = ran({{"MMA_WARP:\n", "@!%p4 bra EPILOGUE;", ""}});
  check_says(result, "the tcgen05.mma is executed by 32 lanes of mma");
}

TEST_CASE("A try_wait whose answer decides nothing is no wait, though its phase completes in time") {
  const RunResult result = ran({{"WAIT_DONE:", "@!%p5 bra WAIT_DONE;", ""}});
  CHECK(result.outcome == Outcome::findings);
  REQUIRE(!result.findings.empty());
  CHECK(result.findings[0].id == "TC3");
  check_says(result, "missing: a tcgen05.commit after these MMAs, and a wait of load for its mbarrier");
  REQUIRE(!result.notes.empty());
  CHECK(result.notes[0] ==
        "MB19: the answer of mbarrier.try_wait decides nothing: the code goes on before the phase has completed, "
        "too  gemm.ptx:147");
}

TEST_CASE("MMAs of fewer columns than the tile's are said to be that") {
  const RunResult result = ran({{"MMA:\n", "0x08100490", "0x08080490"}});
  check_says(result, "columns 0 to 31 were written by a tcgen05.mma with M = 128, N = 32, by mma (warp 1)");
  check_says(result, "no MMA has multiplied what belongs here: those of these rows of A have N = 32");
}

TEST_CASE("An element type in the instruction descriptor that is not the tensor's is said to be that") {
  const RunResult a = ran({{"MMA:\n", "0x08100490", "0x08100410"}});
  check_says(a,
             "A is bf16, and the MMAs take operand A for f16: the A type in the instruction descriptor is wrong");
  const RunResult b = ran({{"MMA:\n", "0x08100490", "0x08100090"}});
  check_says(b,
             "B is bf16, and the MMAs take operand B for f16: the B type in the instruction descriptor is wrong");
}

TEST_CASE("A k step that was loaded and not multiplied is not said to be missing from memory") {
  const RunResult result =
      ran({{"MMA:\n", "setp.lt.u32 %p6, %r14, %r6;", "sub.u32 %r40, %r6, 1;\n\tsetp.lt.u32 %p6, %r14, %r40;"}});
  check_says(result, "k 192-255 is never multiplied");
  check_says(result, "it was loaded by load");
}

TEST_CASE("A role whose first k step is left out is said to begin too late") {
  const RunResult loads = ran({{"load warp", "mov.u32 %r14, 0; ", "mov.u32 %r14, 1; "}});
  CHECK(loads.outcome == Outcome::hang);
  check_says(
      loads,
      "load begins with stage 1 of empty, so nobody fills stage 0 in the first lap: its first step is left out");
  const RunResult multiplies = ran({{"MMA_WARP:\n", "mov.u32 %r14, 0;", "mov.u32 %r14, 1;"}});
  CHECK(multiplies.outcome == Outcome::hang);
  check_says(multiplies, "mma begins with stage 1 of full, so nobody releases stage 0 in the first lap");
}

TEST_CASE("Columns outside of an allocation come with the allocations that there are, and with what was freed") {
  check_says(ran({{"READY:", "[%r10], 64;", "[%r10], 32;"}}),
             "allocated: columns 0 to 31, by epilogue (warp 2) of CTA");
  check_says(ran({{"COLUMNS:", "%r12, 64;", "%r12, 32;"}}),
             "allocated: columns 0 to 63, by epilogue (warp 2) of CTA");
}

TEST_CASE("An operand of another stage than the MMA's other one is an address, not a missing wait") {
  const RunResult result = ran({{"WAIT_FULL:", "add.u32 %r26, %r25, 1024;", "add.u32 %r26, %r25, 2560;"}});
  CHECK(result.outcome == Outcome::findings);
  check_says(
      result,
      "mma reads operand B from the stage of full[1], and operand A from that of full[0], which it has waited for");
  check_says(result, "wrong: where operand B lies: the stage index, or the start address of its descriptor");
}

TEST_CASE("A commit ahead of the tile's last MMAs is said to be that") {
  const RunResult result =
      ran({{"MMA:\n", "add.u32 %r14, %r14, 1;",
            "add.u32 %r14, %r14, 1;\n\tadd.u32 %r40, %r14, 1;\n\tsetp.eq.u32 %p7, %r40, %r6;\n\t@%p7 "
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];"}});
  CHECK(result.outcome == Outcome::findings);
  check_says(result, "mma has committed to done");
  check_says(result, "before its last MMAs of the tile");
}

TEST_CASE("A first MMA that accumulates is said to be that") {
  const RunResult result = ran({{"MMA:\n", "setp.ne.u32 %p7, %r14, 0;", "setp.eq.u32 %p7, %r14, %r14;"}});
  check_says(result, "the tile's first MMA adds to what lies in tensor memory, where nobody has written");
}

TEST_CASE("A count that differs within an array of a PTX kernel is held against the first, not against a table") {
  check_says(ran({{".reqntid", "[%r8+8], 1;", "[%r8+8], 2;"}}),
             "empty[1] was initialised for 2 arrivals per phase; the first of the array for 1");
}

TEST_CASE("A stage of the wrong array that is armed for bytes is told by both arrays") {
  const RunResult result =
      ran({{"", "add.s32 \t%r345, %r359, %r375;", "add.s32 \t%r345, %r362, %r375;"}}, "hopper");
  CHECK(result.outcome == Outcome::hang);
  check_says(
      result,
      "likely cause: producer arms empty[2] and lets its copies complete there, where full[2] lacks them: for the "
      "other stages it is full that is armed (expect_tx)");
  check_says(result, "at fault: producer (warp 0) of CTA 0  gemm.cu:100 (gemm.cu:26, gemm.ptx:1198)");
}

TEST_CASE("An array that is armed in place of another in all stages is told, and by whom") {
  const RunResult result = ran({{"LOAD:", "add.u32 %r19, %r7, %r17;", "add.u32 %r19, %r8, %r17;"}});
  CHECK(result.outcome == Outcome::hang);
  check_says(
      result,
      "no warp of the program may come to an instruction that arrives on full: load arms empty[0] (expect_tx) and "
      "lets its copies complete there, on which it waits itself");
}

TEST_CASE("Who waits for what it completes itself is told which barrier nobody waits for") {
  const RunResult result = ran({{"MMA:\n", "add.u32 %r19, %r7, %r17;", "add.u32 %r19, %r8, %r17;"}});
  CHECK(result.outcome == Outcome::hang);
  check_says(
      result,
      "mma waits for empty[0], which its own tcgen05.commit behind this wait is to complete: it waits for the "
      "wrong barrier; nobody waits for full[0], which load completes");
}

TEST_CASE("A load that waits for its own copies is said to do so where it overwrites a stage") {
  const RunResult result = ran({{"LOAD:", "add.u32 %r18, %r8, %r17;", "add.u32 %r18, %r7, %r17;"}});
  check_says(result, "; load waits for full, which its own copies complete, and has never waited for a release");
}

TEST_CASE("Both copies with one operand's tensor map are told where they overlap") {
  const RunResult result = ran({{"LOAD:", "[%rd4, {%r22, %r24}]", "[%rd2, {%r22, %r24}]"}});
  check_says(result, "; all its copies so far read A, and none reads B: one of them names the other's tensor map");
}

TEST_CASE("A copy that signals another stage's barrier is told by the stage that lacks its bytes") {
  const RunResult result =
      ran({{"", "[%rd72, {%r343, %r352}], [%r345];", "[%rd72, {%r343, %r352}], [%r333];"}}, "hopper");
  check_says(result,
             "or the copy is another stage's and signals the wrong barrier: full[2] is armed for 32,768 bytes, and "
             "lacks the 16,384 of this one");
}

TEST_CASE("A load that waits once for its own copies is told which wait that is") {
  const RunResult result =
      ran({{"", "add.s32 \t%r346, %r362, %r380;", "add.s32 \t%r346, %r359, %r380;"}}, "hopper");
  check_says(
      result,
      "; producer has last waited for full[3], which its own copies complete, where it must wait for the stage's "
      "release (gemm.cu:99");
}
