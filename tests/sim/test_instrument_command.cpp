// SPDX-License-Identifier: Apache-2.0
// sm100sim instrument as a user runs it.

#include <filesystem>

#include "catch.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

std::string gemm() {
  return "'" + (std::filesystem::path(source_dir()) / "scenarios/hopper/gemm.ptx").string() + "'";
}

}  // namespace

TEST_CASE("instrument: says what it has put in, and writes the file") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "instrument " + gemm() + " -o traced.ptx --only waits,copies");
  CHECK(ran.err.empty());
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.find("34 points in gemm: 20 waits, 14 copies\n") != std::string::npos);
  CHECK(std::filesystem::exists(scratch / "traced.ptx"));
  CHECK(run(scratch, "ptx --check traced.ptx").out.find("1 of 1 entry can be looked at in full") !=
        std::string::npos);
}

TEST_CASE("instrument: bad input is refused with what is allowed, and nothing is written") {
  ScratchDirectory scratch;
  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const Ran ran = run(scratch, "instrument " + arguments + " -o traced.ptx");
    INFO(arguments << "\n" << ran.out << ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(ran.err.find(part) != std::string::npos);
    CHECK(!std::filesystem::exists(scratch / "traced.ptx"));
  };
  refused(gemm() + " --only waits,barriers", "allowed: waits, copies, mmas, commits, arrives, tiles, stores");
  refused(gemm() + " --entry other", "--entry names one of:");
  refused("missing.ptx", "missing.ptx: cannot be read");
  REQUIRE(run(scratch, "instrument " + gemm() + " -o once.ptx").exit_code == 0);
  refused("once.ptx", "this text has one already");
  CHECK(run(scratch, "instrument once.ptx -o once.ptx").exit_code == 2);
}
