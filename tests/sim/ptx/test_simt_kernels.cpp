// SPDX-License-Identifier: Apache-2.0
// SIMT kernels given as PTX on the models: calls, printf, variables of the module, atomics of shared memory.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/ptx/functional_launch.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

const std::filesystem::path kFolder = std::filesystem::path(source_dir()) / "scenarios/ptx";

std::string reduction() {
  std::stringstream text;
  text << std::ifstream(kFolder / "reduction.ptx").rdbuf();
  return text.str();
}

/// scenarios/ptx/reduction.ptx with one text in place of another.
host::Scenario edited(const std::string& from, const std::string& to, const std::string& set = "run.seed=1") {
  static const ScratchDirectory directory;
  static int number = 0;
  std::string text = reduction();
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto file = directory.write("edited" + std::to_string(number++) + ".ptx", text);
  return host::load_scenario(kFolder / "reduction.toml", {"problem.ptx=\"" + file.string() + "\"", set});
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  INFO(part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a reduction by shuffles, atomics in shared memory and on variables of the module verifies and prints") {
  const RunResult result = run_in_child(load_by_name("ptx/reduction"));
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
  CHECK(result.findings.empty());
  CHECK(result.warnings.empty());
  CHECK(result.printed == "sum of 1000 words: 1000\n");
}

TEST_CASE("the reduction without models has the same result and prints the same") {
  std::string text = reduction();
  FunctionalProgram p(text.substr(text.find(".extern")));
  const uint64_t words = p.memory.allocate(4000), right = p.memory.allocate(4000);
  for (size_t i = 0; i < 1000; ++i) p.memory.at<uint32_t>(words, i) = 1;
  const FunctionalResult r = p.run({4, 1, 1}, {128, 1, 1}, Arguments() << words << right << 1000u << 1000u);
  INFO(r.text);
  REQUIRE(r.end == FunctionalEnd::finished);
  CHECK(p.printed == "sum of 1000 words: 1000\n");
  for (size_t i = 0; i < 1000; ++i) REQUIRE(p.memory.at<uint32_t>(right, i) == 1);
}

TEST_CASE("a sum that another atomic spoils is a mismatch") {
  CHECK(run_in_child(edited("@%p3 red.shared.add.u32", "@%p3 red.shared.min.u32")).outcome == Outcome::mismatch);
}

TEST_CASE("atomics of the models: 16 bits, 128 bits, vectors, shared floats") {
  // Each form leaves the sum as it is; the vector's second element is looked at.
  const std::string edit = R"(
	.reg .b16 %h<3>; .reg .b128 %q<3>;
	@!%p1 bra COUNTED;
	atom.shared.cas.b16 %h1, [sum], 0, 0;
	mov.u64 %rd7, sum;
	cvta.shared.u64 %rd7, %rd7;
	atom.exch.b32 %r20, [%rd7], 7;
	atom.cas.b32 %r20, [%rd7], 7, %r20;
	atom.global.exch.b128 %q1, [%rd2], %q1;
	atom.global.exch.b128 %q2, [%rd2], %q1;
	st.global.u32 [%rd2+16], 0; st.global.u32 [%rd2+20], 0;
	red.global.add.v2.f32 [%rd2+16], {0f3f800000, 0f40000000};
	ld.relaxed.gpu.global.u32 %r21, [%rd2+20];
	setp.eq.u32 %p4, %r21, 0x40000000;
	@!%p4 red.shared.add.u32 [sum], 1;
COUNTED:
	bar.sync 0;
	@!%p1 bra WAIT;)";
  host::Scenario scenario = edited("\n\t@!%p1 bra WAIT;", edit, "problem.grid=[1, 1, 1]");
  const RunResult result = run_in_child(scenario);
  INFO(result.report);
  CHECK(result.printed == "sum of 1000 words: 1000\n");
}

TEST_CASE("lanes that spin for a lock let the one that holds it go on, on the models too") {
  const std::string lock = R"(
	{
	.reg .b32 %l<3>; .reg .pred %t;
	@%p1 st.shared.u32 [last], 0;
	bar.sync 0;
TRY:
	atom.acquire.cta.shared.cas.b32 %l1, [last], 0, 1;
	setp.ne.u32 %t, %l1, 0;
	@%t bra TRY;
	atom.release.cta.shared.exch.b32 %l2, [last], 0;
	}
	and.b32 %r10, %r1, 31;)";
  host::Scenario scenario = edited("\n\tand.b32 %r10, %r1, 31;", lock);
  const RunResult result = run_in_child(scenario);
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
}

TEST_CASE("an assertion that fails on the models is a finding with its text and the line") {
  const std::string failing = R"(
	{
	.param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
	mov.u64 %rd7, message;
	st.param.b64 [a], %rd7; st.param.b64 [b], %rd7; st.param.b32 [c], 12; st.param.b64 [d], %rd7; st.param.b64 [e], 1;
	call.uni __assertfail, (a, b, c, d, e);
	}
	and.b32 %r10, %r1, 31;)";
  host::Scenario scenario = edited("\n\tand.b32 %r10, %r1, 31;", failing);
  const RunResult result = run_in_child(scenario);
  CHECK(result.outcome == Outcome::findings);
  has(result.report, "TR2");
  has(result.report, "assertion 'sum of");
}
