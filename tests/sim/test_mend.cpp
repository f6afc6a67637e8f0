// SPDX-License-Identifier: Apache-2.0
// sm100sim mend: finds the change of one instruction that makes a failing scenario right, and says so when there is
// none.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "paths.h"
#include "sim/child_process.h"
#include "sim/mend/changes.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const fs::path kScenarios = fs::path(source_dir()) / "scenarios";
constexpr const char* kSmall = "01_dense_small.toml' --set problem.m=256 --set problem.n=256 --set run.sms=2";

/// The small dense product with a fault that stands for a slip.
std::string broken(const std::string& fault) {
  return fmt::format("'{}/{} --set 'fault=[{{{}}}]'", kScenarios.string(), kSmall, fault);
}

Json mended(ScratchDirectory& scratch, const std::string& scenario, const std::string& options = "") {
  const Ran r = run(scratch, fmt::format("mend {} --for 0 {} --json -", scenario, options));
  CAPTURE(r.out, r.err);
  REQUIRE_FALSE(r.out.empty());
  Json json = Json::parse(r.out);
  CHECK(r.exit_code == (json["outcome"] == "not mended" ? r.exit_code : 0));
  return json;
}

}  // namespace

TEST_CASE("mend: the change that undoes a slip is the first that makes the run right", "[mend]") {
  const struct {
    const char *fault, *instruction, *change;
  } slips[] = {
      {R"(instruction="mbarrier_arrive_expect_tx", barrier="input_full", action="add", value=16)",
       "mbarrier_arrive_expect_tx", "bytes: 32,768 instead of 32,784"},
      {R"(instruction="mbarrier_init", barrier="accum_full", action="add", value=1)", "mbarrier_init",
       "count: 1 instead of 2"},
      {R"(instruction="tcgen05_mma", action="add", operand="b", value=4096)", "tcgen05_mma",
       "start address of b: 4,096 bytes less"},
      {R"(instruction="tcgen05_mma", action="add", operand="idesc", value=65536)", "tcgen05_mma", "idesc: "},
      {R"(instruction="cp_async_bulk_tensor_global_shared", action="add", operand="x", value=64)",
       "cp_async_bulk_tensor_global_shared", "x: 64 less than it is"},
      {R"(instruction="tcgen05_ld_16x256b", action="add", value=8)", "tcgen05_ld_16x256b",
       "column: 8 less than it is"},
  };
  for (const auto& slip : slips) {
    CAPTURE(slip.fault);
    ScratchDirectory scratch;
    const Json m = mended(scratch, broken(slip.fault), "--enough 1");
    CAPTURE(m.dump(1));
    REQUIRE(m["found"].size() == 1);
    CHECK(m["found"][0]["instruction"] == slip.instruction);
    CHECK_THAT(m["found"][0]["change"].get<std::string>(), Catch::StartsWith(slip.change));
  }
}

TEST_CASE("mend: the fault that it prints makes the scenario right", "[mend]") {
  ScratchDirectory scratch;
  const std::string slip =
      "\n[[fault]]\ninstruction = \"mbarrier_init\"\nbarrier = \"input_empty\"\naction = \"add\"\nvalue = 1\n";
  std::ifstream file(kScenarios / "01_dense_small.toml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::ofstream(scratch / "broken.toml") << text << slip;
  CHECK(run(scratch, "run broken.toml").exit_code == 3);
  const Json m = mended(scratch, "broken.toml", "--enough 1");
  REQUIRE(m["found"].size() == 1);
  std::ofstream(scratch / "mended.toml") << text << slip << m["found"][0]["fault"].get<std::string>();
  const Ran proof = run(scratch, "run mended.toml");
  CAPTURE(proof.out, proof.err);
  CHECK(proof.exit_code == 0);
}

TEST_CASE("mend: what is found does not depend on the number of processes", "[mend]") {
  ScratchDirectory scratch;
  const std::string slip = broken(R"(instruction="mbarrier_init", barrier="accum_full", action="add", value=1)");
  Json one = mended(scratch, slip, "--enough 1 --jobs 1"), four = mended(scratch, slip, "--enough 1 --jobs 4");
  one.erase("seconds"), four.erase("seconds");
  CHECK(one == four);
}

TEST_CASE("mend: nothing is to be done, or nothing can be done", "[mend]") {
  ScratchDirectory scratch;
  const Ran right = run(scratch, fmt::format("mend '{}/{}", kScenarios.string(), kSmall));
  CHECK(right.exit_code == 0);
  CHECK(right.out.starts_with("NOTHING TO MEND  dense_small"));
  // A store that is left out is no operand of another instruction.
  const Ran none = run(
      scratch, "mend " + broken(R"(instruction="cp_async_bulk_tensor_global_shared", action="drop")") + " --for 1");
  CAPTURE(none.out, none.err);
  CHECK(none.exit_code == 4);
  CHECK(none.out.starts_with("NOT MENDED  dense_small"));
}

TEST_CASE("mend: a change is written as a fault of a scenario", "[mend]") {
  host::FaultSpec fault{.role = "load", .instruction = "mbarrier_arrive_expect_tx", .source = "load_warp.h:37"};
  fault.action = host::FaultAction::add, fault.operand = "bytes", fault.value = -16;
  CHECK(fault_toml(fault) ==
        "[[fault]]\nrole = \"load\"\ninstruction = \"mbarrier_arrive_expect_tx\"\nsource = \"load_warp.h:37\"\n"
        "action = \"add\"\noperand = \"bytes\"\nvalue = -16\n");
}
