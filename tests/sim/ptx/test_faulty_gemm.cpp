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

RunResult ran(const std::vector<Edit>& edits) {
  const fs::path folder = fs::path(source_dir()) / "scenarios/ptx";
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
