// SPDX-License-Identifier: Apache-2.0
// The hot loops' instruction set changes nothing that a user sees.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "catch.h"
#include "models/vector/instruction_set.h"
#include "paths.h"
#include "program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Ran run_with(const ScratchDirectory& scratch, const std::string& set, const std::string& arguments) {
  return run(scratch, arguments, "SM100SIM_INSTRUCTION_SET=" + set);
}

}  // namespace

TEST_CASE("the output has the same bits on every instruction set of this machine", "[vector]") {
  for (const char* scenario : {"01_dense_small", "14_fused_epilogue", "10_m64", "smoke/smoke_08",
                               "split_k/splits_2_m128", "direct/v3", "copy/two_stages"}) {
    const std::string file = scenario_dir() + "/" + scenario + ".toml";
    if (!std::filesystem::exists(file)) FAIL(file);
    std::string expected;
    for (const auto set : vector::available_instruction_sets()) {
      CAPTURE(scenario, vector::name(set));
      ScratchDirectory scratch;
      const Ran ran = run_with(scratch, vector::name(set), "run " + file + " --json r.json");
      REQUIRE(ran.exit_code == 0);
      const std::string hash = nlohmann::json::parse(read_whole(scratch / "r.json"))["output_hash"].dump();
      if (expected.empty()) expected = hash;
      CHECK(hash == expected);
    }
  }
}

TEST_CASE("the version says which instruction set is in use, and a wrong name is bad input", "[vector]") {
  ScratchDirectory scratch;
  for (const auto set : vector::available_instruction_sets())
    CHECK_THAT(run_with(scratch, vector::name(set), "--version").out,
               Catch::EndsWith(std::string("instruction set of the hot loops: ") + vector::name(set) + "\n"));
  const Ran wrong = run_with(scratch, "mmx", "list isa");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Catch::StartsWith("SM100SIM_INSTRUCTION_SET = mmx: this machine has portable"));
}
