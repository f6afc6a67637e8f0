// SPDX-License-Identifier: Apache-2.0
// What reports of PTX runs call things: source lines, roles, arrays of barriers, who owes a phase that nobody has
// come to; and faults that name a line.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "kernels/host/run_plan.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

std::filesystem::path gemm(const char* ending) {
  return std::filesystem::path(source_dir()) / "scenarios/ptx" / (std::string("gemm") + ending);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

int line_of_text(const std::string& text, const std::string& part) {
  const size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return 1 + int(std::count(text.begin(), text.begin() + long(at), '\n'));
}

/// The launch file beside an edited kernel; `more` ends it.
std::filesystem::path launch(const ScratchDirectory& folder, const std::string& ptx, const std::string& more = "",
                             const std::string& roles = "") {
  folder.write("k.ptx", ptx);
  std::string text = replaced(read_whole(gemm(".toml")), "ptx   = \"gemm.ptx\"", "ptx   = \"k.ptx\"");
  text = replaced(text, "roles = [\"load\", \"mma\", \"epilogue\", \"epilogue\"]\n", roles);
  return folder.write("k.toml", text + more);
}

RunResult run_of(const std::string& ptx, const std::string& more = "", const std::vector<std::string>& sets = {}) {
  ScratchDirectory folder;
  return run_in_child(host::load_scenario(launch(folder, ptx, more), sets));
}

void check_parts(const std::string& report, const std::vector<std::string>& parts) {
  INFO(report);
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(report.find(part) != std::string::npos);
  }
}

const char* kFlip = "\txor.b32 %r16, %r16, 1; ";
const char* kCommit = "\ttcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r18];\n";

/// Barriers that no symbol names: behind the stages, in dynamic shared memory.
std::string without_symbols() {
  std::string text = read_whole(gemm(".ptx"));
  text = replaced(
      text, "\t.shared .align 8 .b64 full[2];\n\t.shared .align 8 .b64 empty[2];\n\t.shared .align 8 .b64 done;\n",
      "");
  text = replaced(text, "\tmov.u32 %r7, full;\n\tmov.u32 %r8, empty;\n\tmov.u32 %r9, done;\n", "");
  return replaced(
      text, "\tmov.b64 %rd1, map_a;\n",
      "\tadd.u32 %r7, %r11, 49152;\n\tadd.u32 %r8, %r7, 16;\n\tadd.u32 %r9, %r7, 32;\n\tmov.b64 %rd1, map_a;\n");
}

}  // namespace

TEST_CASE("A warp of PTX is called after what its text lets it do") {
  ScratchDirectory folder;
  const host::Scenario scenario = host::load_scenario(launch(folder, read_whole(gemm(".ptx"))));
  const host::RunPlan plan = host::plan_of(scenario);
  std::vector<std::string> roles;
  for (int warp = 0; warp < 4; ++warp) roles.emplace_back(plan.kernels[0].run->role(warp));
  CHECK(roles == std::vector<std::string>{"load", "mma", "epilogue", "epilogue"});
}

TEST_CASE("A first phase that nobody comes to is owed by whoever may come, at its line") {
  const std::string text = read_whole(gemm(".ptx"));
  const RunResult result = run_of(replaced(text, kFlip, "\t// "));
  check_parts(result.report, {"load (warp 0)", "waits for empty[0] parity 0", "tcgen05.commit of mma (warp 1)",
                              "a producer's first lap must wait for parity 1"});
  CHECK(result.findings[0].fault_role == "load");
}

TEST_CASE("A barrier that no instruction of the text arrives on is said to be so") {
  const std::string text = read_whole(gemm(".ptx"));
  const RunResult result = run_of(replaced(text, kCommit, ""));
  check_parts(result.report, {"no warp of the program may come to an instruction that arrives on empty",
                              "mma, which waits for full"});
  CHECK(result.findings[0].fault_role == "mma");
}

TEST_CASE("An arrival that is in the text and was not executed names its line") {
  const std::string text = read_whole(gemm(".ptx"));
  // The last commit is jumped over.
  const RunResult result = run_of(replaced(text, "\t@%p6 bra MMA;\n", "\t@%p6 bra MMA;\n\tbra EPILOGUE;\n"));
  check_parts(result.report, {"done[0]", "likely cause"});
}

TEST_CASE("Faults by line do what edits of the text do") {
  const std::string text = read_whole(gemm(".ptx"));
  const auto fault = [&](const std::string& part, const std::string& what) {
    return fmt::format("\n[[fault]]\nline = {}\n{}\n", line_of_text(text, part), what);
  };
  SECTION("wrong bytes") {
    check_parts(run_of(text, fault("_, [%r19], 24576;", "action = \"add\"\nvalue = 16")).report,
                {"misses 16 of 24,592 bytes", "expect_tx counts 16 bytes more", "load (warp 0)"});
  }
  SECTION("wrong parity") {
    check_parts(run_of(text, fault("[%r18], %r16;", "action = \"flip_parity\"\noccurrence = 0")).report,
                {"waits for empty[0] parity 0", "a producer's first lap must wait for parity 1"});
  }
  SECTION("dropped") {
    check_parts(run_of(text, fault("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9]",
                                   "action = \"drop\""))
                    .report,
                {"done[0]", "tcgen05.commit", "mma (warp 1)",
                 fmt::format("k.ptx:{}", line_of_text(text, "b64 [%r9];\n\n"))});
  }
  SECTION("wrong count") {
    check_parts(run_of(text, fault("[%r9], 1;", "action = \"add\"\noperand = \"count\"\nvalue = 1")).report,
                {"HANG", "done[0] is initialised for 2 arrivals a phase; 1 has come, of mma (warp 1) of CTA",
                 "the count is 1 too high",
                 fmt::format("at fault: load (warp 0) of CTA 0  k.ptx:{}", line_of_text(text, "[%r9], 1;"))});
  }
  SECTION("wrong count of a ring") {
    for (const std::string barrier : {"full", "empty"})
      check_parts(
          run_of(text, fault(barrier == "full" ? "[%r7], 1;" : "[%r8], 1;",
                             "action = \"add\"\noperand = \"count\"\nvalue = 1"))
              .report,
          {"HANG", barrier + "[0] is initialised for 2 arrivals a phase; 1 has come", "the count is 1 too high"});
  }
}

TEST_CASE("Faults by line say what is wrong with them") {
  const std::string text = read_whole(gemm(".ptx"));
  const auto message = [&](const std::string& fault) {
    ScratchDirectory folder;
    try {
      host::load_scenario(launch(folder, text, "\n[[fault]]\n" + fault));
    } catch (const host::InputError& error) { return std::string(error.what()); }
    return std::string();
  };
  CHECK_THAT(message("line = 1\naction = \"drop\"\n"),
             Catch::Contains("no instruction of gemm stands at line 1 of k.ptx"));
  CHECK_THAT(message(fmt::format("line = {}\naction = \"drop\"\n", line_of_text(text, "mov.u32 %r1, %tid.x"))),
             Catch::Contains("has mov.u32: faults alter instructions of units"));
  CHECK_THAT(message("line = 1\ninstruction = \"mbarrier_init\"\naction = \"drop\"\n"),
             Catch::Contains("not together with instruction"));
  const RunResult result = run_of(
      text, fmt::format("\n[[fault]]\nline = {}\naction = \"flip_parity\"\n", line_of_text(text, "[%r9], 1;")));
  REQUIRE(result.unmatched_faults.size() == 1);
  CHECK_THAT(result.unmatched_faults[0], Catch::Contains("the fault altered nothing in this run"));
}

TEST_CASE("Line information gives the source's line with that of the PTX, the calls on request, and both in JSON") {
  std::string text = read_whole(gemm(".ptx"));
  text = replaced(text, "_, [%r19], 24576;", "_, [%r19], 24592;");
  text =
      replaced(text, "WAIT_EMPTY:\n", "\t.loc 2 12 3, function_name $L__info0, inlined_at 1 143 5\nWAIT_EMPTY:\n");
  text = replaced(text, "WAIT_FULL:\n", "\t.loc 1 210 7\nWAIT_FULL:\n");
  text = replaced(text, "LOAD:\n", "LOAD:\n\t.loc 1 143 5\n");
  text += "\n.file 1 \"/src/gemm.cu\"\n.file 2 \"/src/tile.h\"\n";
  ScratchDirectory folder;
  const std::filesystem::path file = launch(folder, text);
  const Ran plain = run(folder, "run k.toml --json result.json");
  INFO(plain.out);
  const int waits = line_of_text(text, "[%r19], %r16;"), armed = line_of_text(text, "_, [%r19], 24592;");
  check_parts(plain.out, {fmt::format("gemm.cu:210 (k.ptx:{})", waits),
                          fmt::format("gemm.cu:143 (tile.h:12, k.ptx:{})", armed)});
  const auto json = nlohmann::json::parse(read_whole(folder / "result.json"));
  const auto& finding = json["findings"][0];
  CHECK(finding["place"]["file"] == "/src/gemm.cu");
  CHECK(finding["place"]["line"] == 210);
  CHECK(finding["place"]["ptx_line"] == waits);
  CHECK(finding["fault_place"]["ptx_line"] == armed);
  CHECK(finding["fault_place"]["inlined_at"][0]["line"] == 143);
  CHECK(finding["fault_place"]["telling"] == 1);
  CHECK(finding["place"]["telling"] == 0);
  const Ran named = run(folder, "run k.toml --inlining");
  check_parts(named.out, {fmt::format("tile.h:12, inlined at gemm.cu:143 (k.ptx:{})", armed)});
}

TEST_CASE("Barriers without symbols are arrays by where the text indexes them from, and say who completes them") {
  const std::string text = without_symbols();
  const std::vector<std::string> sets = {"problem.dynamic_smem_bytes=49216"};
  const RunResult sound = run_of(text, "", sets);
  INFO(sound.report);
  CHECK(sound.outcome == Outcome::pass);
  const RunResult result = run_of(replaced(text, "_, [%r19], 24576;", "_, [%r19], 24592;"), "", sets);
  check_parts(result.report, {"is 2 barriers of count 1, filled by TMA for load, awaited by mma", "[0]"});
}

TEST_CASE("names.toml names barriers and warps") {
  ScratchDirectory folder;
  std::string text = replaced(without_symbols(), "_, [%r19], 24576;", "_, [%r19], 24592;");
  launch(folder, text);
  const RunResult learned = run_of(text, "", {"problem.dynamic_smem_bytes=49216"});
  const std::string& barrier = learned.findings[0].barrier;  // "mbarrier 0xd000"
  REQUIRE(barrier.rfind("mbarrier 0x", 0) == 0);
  folder.write("names.toml",
               fmt::format("[[barrier]]\noffset = {}\nstages = 2\nname = \"ab_full\"\narrives = [\"fetch\"]\n"
                           "waits = [\"mma\"]\n\n[[role]]\nwarp = 0\nname = \"fetch\"\n",
                           barrier.substr(9)));
  const Ran ran =
      run(folder, "ptx k.ptx --launch k.toml --names names.toml --set problem.dynamic_smem_bytes=49216");
  INFO(ran.err);
  check_parts(ran.out, {"ab_full[0]", "fetch (warp 0)"});
  folder.write("wrong.toml", "[[barrier]]\nsymbol = \"nope\"\nname = \"x\"\n");
  const Ran wrong = run(folder, "ptx k.ptx --launch k.toml --names wrong.toml");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Catch::Contains("wrong.toml") && Catch::Contains("symbol"));
}

TEST_CASE("ptx --describe writes a launch file that runs once it is filled in") {
  ScratchDirectory folder;
  folder.write("gemm.ptx", read_whole(gemm(".ptx")));
  const Ran ran = run(folder, "ptx gemm.ptx --describe");
  REQUIRE(ran.exit_code == 0);
  std::string text = ran.out;
  INFO(text);
  check_parts(text, {"block = [128, 1, 1]  # .reqntid", "tensor_map = \"map_a\"", "tensor_map = \"map_b\"",
                     "address   = \"c\"", "kernel  = \"ptx\"", "FILL IN: tiles[], aligned to 1024"});
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"grid  = []", "grid  = [2, 2, 1]"},
           {"dynamic_smem_bytes = ", "dynamic_smem_bytes = 49152"},
           {"type  = \"\"", "type  = \"bf16\""},
           {"shape = []", "shape = [256, 256]"},
           {"type  = \"\"", "type  = \"bf16\""},
           {"shape = []", "shape = [128, 256]"},
           {"type  = \"\"", "type  = \"bf16\""},
           {"shape = []", "shape = [256, 128]"},
           {"box        = []", "box        = [64, 128]\nswizzle = \"128B\""},
           {"box        = []", "box        = [64, 64]\nswizzle = \"128B\""},
           {"value     = ", "value     = 128"},
           {"value     =  #", "value     = 256 #"}})
    text = replaced(text, from, to);
  folder.write("launch.toml", text + "[problem.check]\nproduct = [\"map_a\", \"map_b\", \"c\"]\n");
  const Ran filled = run(folder, "ptx gemm.ptx --launch launch.toml");
  INFO(filled.err);
  INFO(filled.out);
  CHECK(filled.exit_code == 0);
  CHECK_THAT(filled.out, Catch::Contains("VERIFIED") || Catch::Contains("verified"));
  const Ran blank = run(folder, "ptx gemm.ptx --describe --entry nobody");
  CHECK(blank.exit_code == 2);
}

TEST_CASE("ledger: counts, bytes, who arrives with what, who waits with which parity") {
  ScratchDirectory folder;
  launch(folder, read_whole(gemm(".ptx")));
  const Ran ran = run(folder, "ledger k.ptx --launch k.toml");
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  const std::string text = read_whole(gemm(".ptx"));
  check_parts(ran.out,
              {"full[2]", "1 arrival a phase, 24,576 bytes, 4 phases a CTA",
               fmt::format("load: mbarrier.arrive.expect_tx  k.ptx:{}", line_of_text(text, "_, [%r19], 24576;")),
               "load: cp.async.bulk.tensor  k.ptx:", "mma: mbarrier.try_wait  k.ptx:", "parity 0, 1",
               "mma: tcgen05.commit  k.ptx:", "epilogue: mbarrier.try_wait"});
  const Ran markdown = run(folder, "ledger k.toml --format markdown");
  check_parts(markdown.out, {"| barrier | count | bytes per phase |", "| `full[2]` | 1 | 24,576 |"});
  const auto json = nlohmann::json::parse(run(folder, "ledger k.toml --format json").out);
  CHECK(json["kernels"][0]["barriers"][0]["bytes_per_phase"][0] == 24576);
  const Ran roles = run(
      folder,
      fmt::format("ledger {}", (std::filesystem::path(source_dir()) / "scenarios/01_dense_small.toml").string()));
  INFO(roles.out);
  CHECK(roles.exit_code == 0);
  check_parts(roles.out, {"input_full", "load: mbarrier.arrive.expect_tx", "load_warp.h:", "phases a tile"});
}
