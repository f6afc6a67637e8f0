// SPDX-License-Identifier: Apache-2.0
// With how many registers a thread of PTX is launched: what setmaxnreg hands out, and whether a run has looked at
// it.
#include <fmt/format.h>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "kernels/ptx_launch/host/ptx_problem.h"
#include "ptx/module.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

std::string text_of(const std::string& directives, const std::string& body) {
  return fmt::format(
      ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry gives(.param .u32 "
      "n)\n{}\n{{\n{}\tret;\n}}\n",
      directives, body);
}

constexpr const char* kGives = "\tsetmaxnreg.dec.sync.aligned.u32 40;\n";

int stated(const std::string& directives, const std::string& body = kGives) {
  const std::string text = text_of(directives, body);
  const ptx::Module module = ptx::parse(text, "k.ptx");
  return host::stated_registers(module, module.entries[0]);
}

RunResult run_of(const std::string& directives, const std::vector<std::string>& sets = {},
                 const std::string& key = "") {
  ScratchDirectory folder;
  folder.write("k.ptx", text_of(directives, kGives));
  return run_in_child(host::load_scenario(
      folder.write("k.toml",
                   "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"k.ptx\"\ngrid = [1, 1, 1]\n"
                   "block = [384, 1, 1]\n" +
                       key +
                       "[[problem.tensor]]\nname = \"out\"\ntype = \"u32\"\nshape = [32]\ncontents = \"zeros\"\n"
                       "[[problem.argument]]\nvalue = 1\n[run]\nsms = 1\n"),
      sets));
}

}  // namespace

TEST_CASE("Registers follow from the directives as ptxas 13.0 has it") {
  CHECK(stated(".maxnreg 64\n.maxntid 384") == 64);
  // .maxntid, .minnctapersm, what ptxas -v prints
  constexpr int kMeasured[][3] = {{128, 2, 255}, {256, 2, 128}, {384, 1, 168}, {384, 2, 80},  {512, 2, 64},
                                  {288, 1, 168}, {416, 1, 128}, {160, 2, 168}, {224, 2, 128}, {288, 2, 96},
                                  {192, 3, 96},  {224, 3, 80},  {448, 3, 40},  {96, 4, 168},  {320, 4, 48}};
  for (const auto& [threads, ctas, registers] : kMeasured) {
    INFO(threads << " x " << ctas);
    CHECK(stated(fmt::format(".maxntid {}\n.minnctapersm {}", threads, ctas)) == registers);
  }
  CHECK(stated(".reqntid 128, 3, 1\n.minnctapersm 1") == 168);
}

TEST_CASE("What ptxas does not know at the entry is not known here either") {
  CHECK(stated("") == 0);
  CHECK(stated(".maxntid 384") == 0);
  CHECK(stated(".minnctapersm 1") == 0);
  CHECK(stated(".maxntid 384\n.minnctapersm 1", "") == 0);  // without setmaxnreg an entry gets what its code needs
}

TEST_CASE("A run with setmaxnreg is complete once the registers are known, whoever says them") {
  CHECK(run_of(".maxntid 384\n.minnctapersm 1").not_checked.empty());
  CHECK(run_of(".maxnreg 168").not_checked.empty());
  CHECK(run_of("", {"run.registers=168"}).not_checked.empty());
  CHECK(run_of("", {}, "registers_per_thread = 168\n").not_checked.empty());
  const RunResult unknown = run_of("");
  REQUIRE(unknown.not_checked.size() == 1);
  CHECK_THAT(unknown.not_checked[0], Catch::Contains("setmaxnreg") && Catch::Contains("--registers N"));
}

TEST_CASE("What the run says comes before what the file says") {
  // 24 registers are fewer than setmaxnreg.dec leaves: RG1 or RG2 says so.
  const RunResult result = run_of(".maxntid 384\n.minnctapersm 1", {"run.registers=32"});
  INFO(result.report);
  CHECK(result.outcome == Outcome::findings);
}
