// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix of bytes: every byte of every register against plain accesses of shared memory, by the
// kernel itself, on the models and without them.
#include <fmt/format.h>

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

/// The address of byte b of register q of a lane: `base` + what does not depend on the lane + rows and columns of
/// the lane.
struct Place {
  int constant, by_quarter, by_column;  ///< bytes; times lane % 4; times lane / 4
};
/// PTX 9.7.14.5.15: column lane / 4 (+ 8) of rows 4 (lane % 4) to + 3.
Place loaded(int q, int b) { return {256 * (q / 2) + 8 * (q % 2) + 16 * b, 64, 1}; }
/// PTX 9.7.14.5.16: columns lane / 4 and lane / 4 + 8 of rows 2 (lane % 4) and + 1.
Place stored(int q, int b) { return {128 * q + 16 * (b % 2) + 8 * (b / 2), 32, 1}; }

/// scenarios/ptx/reduction.ptx with one instruction more, whose registers are compared byte by byte; each byte that
/// differs spoils the sum.
std::string with_matrices(const std::string& instruction, int registers, Place (*place)(int, int)) {
  std::stringstream file;
  file << std::ifstream(std::filesystem::path(source_dir()) / "scenarios/ptx/reduction.ptx").rdbuf();
  std::string text = file.str();
  std::string code = R"(
	{
	.shared .align 16 .b8 tile[2048];
	.reg .b32 %m<20>; .reg .pred %mp;
	mov.u32 %m1, %tid.x; and.b32 %m2, %m1, 31; shr.u32 %m3, %m1, 5;
	mov.u32 %m4, tile; mad.lo.u32 %m4, %m3, 512, %m4;
	mad.lo.u32 %m5, %m2, 16, %m4;
	mad.lo.u32 %m10, %m1, 0x9e3779b9, 77; xor.b32 %m11, %m10, 0x12345678;
	add.u32 %m12, %m10, 0x01030507; mul.lo.u32 %m13, %m10, 5;
	st.shared.v4.b32 [%m5], {%m10, %m11, %m12, %m13};
	bar.warp.sync -1;
	)" + instruction +
                     R"(
	bar.warp.sync -1;
	and.b32 %m6, %m2, 3; shr.u32 %m7, %m2, 2;
)";
  for (int q = 0; q < registers; ++q)
    for (int b = 0; b < 4; ++b) {
      const Place at = place(q, b);
      code += fmt::format(
          "\tmad.lo.u32 %m8, %m6, {}, %m4; mad.lo.u32 %m8, %m7, {}, %m8; ld.shared.u8 %m9, [%m8+{}];\n"
          "\tbfe.u32 %m15, %m{}, {}, 8; setp.ne.u32 %mp, %m9, %m15; @%mp red.shared.add.u32 [sum], 1;\n",
          at.by_quarter, at.by_column, at.constant, 10 + q, 8 * b);
    }
  const std::string behind = "\n\t@!%p1 bra WAIT;";
  const size_t at = text.find(behind);
  REQUIRE(at != std::string::npos);
  return text.insert(at, code + "\t}");
}

bool right_without_models(const std::string& text) {
  FunctionalProgram p(text.substr(text.find(".extern")));
  const uint64_t words = p.memory.allocate(4000), sums = p.memory.allocate(4000);
  for (size_t i = 0; i < 1000; ++i) p.memory.at<uint32_t>(words, i) = 1;
  const FunctionalResult r = p.run({4, 1, 1}, {128, 1, 1}, Arguments() << words << sums << 1000u << 1000u);
  INFO(r.text);
  REQUIRE(r.end == FunctionalEnd::finished);
  return p.printed == "sum of 1000 words: 1000\n";
}

RunResult run_on_the_models(const std::string& text) {
  static const ScratchDirectory directory;
  static int number = 0;
  const auto file = directory.write("matrices" + std::to_string(number++) + ".ptx", text);
  return run_in_child(host::load_scenario(std::filesystem::path(source_dir()) / "scenarios/ptx/reduction.toml",
                                          {"problem.ptx=\"" + file.string() + "\""}));
}

void check_right(const std::string& text) {
  INFO(text);
  CHECK(right_without_models(text));
  const RunResult result = run_on_the_models(text);
  INFO(result.report);
  CHECK(result.outcome == Outcome::pass);
  CHECK(result.findings.empty());
}

}  // namespace

TEST_CASE("ldmatrix of 16 x 16 bytes, transposed: each byte of each register") {
  check_right(with_matrices("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%m10, %m11}, [%m5];", 2, loaded));
  check_right(
      with_matrices("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%m10, %m11, %m12, %m13}, [%m5];", 4, loaded));
}

TEST_CASE("stmatrix of 16 x 8 bytes, transposed: each byte of each register") {
  check_right(with_matrices("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%m5], {%m10};", 1, stored));
  check_right(with_matrices("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%m5], {%m10, %m11};", 2, stored));
  check_right(
      with_matrices("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%m5], {%m10, %m11, %m12, %m13};", 4, stored));
}

TEST_CASE("the bytes of another layout are noticed") {
  const auto other = [](int q, int b) { return Place{256 * (q / 2) + 8 * (q % 2) + 16 * (b ^ 1), 64, 1}; };
  const std::string text =
      with_matrices("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%m10, %m11}, [%m5];", 2, other);
  CHECK_FALSE(right_without_models(text));
  const RunResult result = run_on_the_models(text);
  INFO(result.report);
  CHECK(result.outcome == Outcome::mismatch);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].id == "PV2");
  CHECK(result.findings[0].message.find("1,000 elements hold bytes that are no copy of the source") == 0);
}
