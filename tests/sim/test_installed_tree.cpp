// SPDX-License-Identifier: Apache-2.0
// The program finds its files from where it lies, and runs without them.
#include <filesystem>

#include "catch.h"
#include "paths.h"
#include "program.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

Ran run_copy(const ScratchDirectory& scratch, const fs::path& program, const std::string& arguments) {
  return run_program(scratch, "env -u SM100SIM_PROFILES -u SM100SIM_SCENARIOS '" + program.string() + "'",
                     arguments);
}

}  // namespace

TEST_CASE("a copied program runs a scenario with the profiles that it was built with", "[install]") {
  ScratchDirectory scratch;
  const fs::path program = scratch / "sm100sim";
  fs::copy_file(sm100sim_binary(), program);
  fs::copy_file(fs::path(scenario_dir()) / "05_single_k_step.toml", scratch / "mine.toml");
  const Ran ran = run_copy(scratch, program, "run mine.toml");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::StartsWith("PASS, clean"));
  const Ran wrong = run_copy(scratch, program, "run mine.toml --set 'profile=\"c300\"'");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Catch::Contains("allowed are \"b200\", \"h200\""));
}

TEST_CASE("an installed tree that was moved has its profiles and scenarios", "[install]") {
  ScratchDirectory scratch;
  const fs::path share = scratch / "somewhere/share/sm100sim", program = scratch / "somewhere/bin/sm100sim";
  fs::create_directories(program.parent_path());
  fs::create_directories(share);
  fs::copy_file(sm100sim_binary(), program);
  fs::copy(profile_dir(), share / "profiles");
  fs::create_directories(share / "scenarios");
  fs::copy_file(fs::path(scenario_dir()) / "05_single_k_step.toml", share / "scenarios/only_one.toml");
  const Ran list = run_copy(scratch, program, "list scenarios");
  CHECK(list.exit_code == 0);
  CHECK_THAT(list.out, Catch::Contains("only_one") && Catch::Contains(share.string()));
  // Its files win over what the program was built with.
  fs::rename(share / "profiles/b200.toml", share / "profiles/mine.toml");
  const Ran ran = run_copy(scratch, program, "run '" + (share / "scenarios/only_one.toml").string() + "'");
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Catch::Contains("allowed are \"h200\", \"mine\""));
}
