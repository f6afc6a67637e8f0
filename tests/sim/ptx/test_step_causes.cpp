// SPDX-License-Identifier: Apache-2.0
// Rings whose sides take different numbers of steps: the GEMM of scenarios/ptx with a loop that ends too late or
// too early.
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

/// @param loop  "LOAD", "MMA": whose condition gets `comparison`
RunResult ran(const std::string& loop, const std::string& comparison) {
  const fs::path folder = fs::path(source_dir()) / "scenarios/ptx";
  std::ifstream in(folder / "gemm.ptx");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string condition = "setp.lt.u32 %p6, %r14, %r6;\n\t@%p6 bra " + loop + ";";
  REQUIRE(text.find(condition) != std::string::npos);
  text.replace(text.find(condition), condition.size(), comparison + "\n\t@%p6 bra " + loop + ";");
  const ScratchDirectory scratch;
  scratch.write("gemm.ptx", text);
  std::ifstream launch(folder / "gemm.toml");
  return run_in_child(
      host::load_scenario(scratch.write("gemm.toml", {std::istreambuf_iterator<char>(launch), {}}), {}));
}

void check_cause(const RunResult& result, const std::string& start) {
  INFO(result.report);
  CHECK(result.outcome == Outcome::hang);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].cause.starts_with(start));
}

}  // namespace

TEST_CASE("A ring whose consumer takes a step more than there are is not blamed on the loads") {
  check_cause(ran("MMA", "setp.le.u32 %p6, %r14, %r6;"), "mma takes more steps for a tile than load brings");
}

TEST_CASE("A ring that is filled from behind the end of a tensor is blamed on the loads") {
  check_cause(ran("LOAD", "add.u32 %r40, %r6, 3;\n\tsetp.lt.u32 %p6, %r14, %r40;"),
              "load fills more steps of a tile than are consumed: its last box lies behind the end");
}

TEST_CASE("A ring that load fills once, and no more, is no wait for a release") {
  const RunResult result = ran("LOAD", "setp.lt.u32 %p6, %r14, 1;");
  INFO(result.report);
  CHECK(result.outcome == Outcome::hang);
  CHECK(result.report.find("parity 1, which a fresh barrier passes") == std::string::npos);
  CHECK(result.report.find("load has made 1 and gone on") != std::string::npos);
}

TEST_CASE("A ring whose loads end early says where") {
  const RunResult result = ran("LOAD", "sub.u32 %r40, %r6, 1;\n\tsetp.lt.u32 %p6, %r14, %r40;");
  INFO(result.report);
  CHECK(result.outcome == Outcome::hang);
  CHECK(result.report.find("192 of 256") != std::string::npos);
}
