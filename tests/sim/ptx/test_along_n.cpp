// SPDX-License-Identifier: Apache-2.0
// Provenance of operands along N that tensor copies bring: the GEMM of scenarios/ptx with B as [k][n].
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

using Edits = std::vector<std::pair<std::string, std::string>>;

std::string edited(const std::string& file, const Edits& edits) {
  std::ifstream in(fs::path(source_dir()) / "scenarios/ptx" / file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  for (const auto& [from, to] : edits) {
    REQUIRE(text.find(from) != std::string::npos);
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  }
  return text;
}

/// @param mistake  in the PTX whose B is along N
RunResult ran(const Edits& mistake) {
  Edits edits = {{"[%rd4, {%r22, %r24}]", "[%rd4, {%r24, %r22}]"},
                 {"add.u64 %rd6, %rd6, 2;", "add.u64 %rd6, %rd6, 128;"},  // two groups of 8 k
                 {"0x08100490", "0x08110490"}};                           // B along N
  edits.insert(edits.end(), mistake.begin(), mistake.end());
  const ScratchDirectory scratch;
  scratch.write("gemm.ptx", edited("gemm.ptx", edits));
  return run_in_child(host::load_scenario(
      scratch.write("gemm.toml", edited("gemm.toml", {{"shape = [128, 256]", "shape = [256, 128]"},
                                                      {"product = [\"A\", \"B\", \"C\"]",
                                                       "product = [\"A\", \"B\", \"C\"]\nb = \"k_n\""}})),
      {"run.provenance=\"on\""}));
}

/// @param or_says  of another tile, where the same is wrong in several and time decides which is reported
void check_cause(const Edits& mistake, const std::string& says, const std::string& or_says = "") {
  const RunResult result = ran(mistake);
  INFO(result.report);
  CHECK(result.outcome == Outcome::mismatch);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].id == "PV1");
  const auto has = [&](const std::string& text) {
    return result.findings[0].message.find(text) != std::string::npos;
  };
  CHECK((has(says) || (!or_says.empty() && has(or_says))));
}

}  // namespace

TEST_CASE("B along N by tensor copies is followed without a finding", "[provenance]") {
  const RunResult result = ran({});
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
  CHECK(result.verified);
  CHECK(result.findings.empty());
  CHECK(result.warnings.empty());
  CHECK(result.provenance.not_looked_at.empty());
}

TEST_CASE("B along N by tensor copies: columns, k, step and transpose bit are named where they are wrong",
          "[provenance]") {
  check_cause({{"shl.b32 %r24, %r3, 6;", "shl.b32 %r24, %r3, 6;\n\tadd.u32 %r24, %r24, 8;"}},
              "B columns 72-127 were used where B columns 64-119 belong",
              "B columns 8-71 were used where B columns 0-63 belong");
  check_cause({{"[%rd4, {%r24, %r22}]", "[%rd4, {%r24, %r28}]"},
               {"shl.b32 %r22, %r14, 6;", "shl.b32 %r22, %r14, 6;\n\tadd.u32 %r28, %r22, 8;"}},
              "k ");
  check_cause({{"add.u64 %rd6, %rd6, 128;", "add.u64 %rd6, %rd6, 64;"}}, "k ");
  check_cause({{"add.u64 %rd6, %rd6, 128;", "add.u64 %rd6, %rd6, 2;"}},
              "4 of 16 MMAs of an accumulator of B columns 64-127 multiply B columns 96-127");
  check_cause(
      {{"add.u32 %r26, %r25, 1024;", "add.u32 %r26, %r25, 0;"}},
      "operand B reads A, which is operand A: the start address of its descriptor leads into the other's tile");
  check_cause({{"[%rd4, {%r24, %r22}]", "[%rd4, {%r24, %r28}]"},
               {"shl.b32 %r22, %r14, 6;", "shl.b32 %r22, %r14, 6;\n\tshl.b32 %r28, %r14, 5;"}},
              "A's k 64-79 was multiplied by B's k 32-47");
  check_cause({{"0x08110490", "0x08100490"}, {"add.u64 %rd6, %rd6, 128;", "add.u64 %rd6, %rd6, 2;"}},
              "B lies along N in global memory, and the MMA reads it along K");
}

TEST_CASE("An MMA whose operand reaches into the next stage is told so, and not that a wait is missing",
          "[hazards]") {
  const RunResult result = ran({{"0x08110490", "0x08100490"}});  // along K, in steps of 128 as along N
  INFO(result.report);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].id == "TC7");
  CHECK(result.findings[0].message.find("has bytes of full[0], and reaches into those of full[1]") !=
        std::string::npos);
  CHECK(result.report.find("missing:") == std::string::npos);
}
