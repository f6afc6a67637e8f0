// SPDX-License-Identifier: Apache-2.0
// sm100sim list scenarios [FOLDER] [--kernel K] [--check ID].
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.h"
#include "scratch_directory.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

using Json = nlohmann::json;

/// Names that the list has.
std::set<std::string> listed(const std::string& filter) {
  const ScratchDirectory here;
  const Ran ran = run(here, "list scenarios " + filter + " --json -");
  CAPTURE(filter, ran.err);
  REQUIRE(ran.exit_code == 0);
  std::set<std::string> names;
  const Json list = Json::parse(ran.out);
  for (const Json& row : list["scenarios"]) names.insert(row["name"].get<std::string>());
  return names;
}

std::string complaint(const std::string& arguments) {
  const ScratchDirectory here;
  const Ran ran = run(here, "list " + arguments);
  CHECK(ran.exit_code == 2);
  CHECK(ran.out.empty());
  return ran.err;
}

}  // namespace

TEST_CASE("list scenarios: the lessons come first", "[list]") {
  const ScratchDirectory here;
  const Ran ran = run(here, "list scenarios");
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::Contains(":\n  01_dense_small.toml "));
  CHECK(ran.out.find("bugs/") > ran.out.find("02_one_stage.toml "));
}

TEST_CASE("list scenarios: a folder, a kernel, a check, and all three", "[list]") {
  const std::set<std::string> bugs = listed("bugs"), bytes = listed("bugs/bytes/"),
                              fallback = listed("--kernel fallback"), tm7 = listed("--check tm7");
  CHECK(bytes.count("bugs/bytes/expect_tx_too_large.toml") == 1);
  CHECK(bytes.count("bugs/phases/stale_stage.toml") == 0);
  CHECK(std::includes(bugs.begin(), bugs.end(), bytes.begin(), bytes.end()));
  CHECK(fallback.count("21_fallback.toml") == 1);
  CHECK(fallback.count("01_dense_small.toml") == 0);
  CHECK(tm7.count("bugs/phases/stale_release_parity.toml") == 1);
  CHECK(tm7.count("bugs/phases/stale_stage.toml") == 0);
  CHECK(listed("--check MB8").count("bugs/phases/stale_stage.toml") == 1);  // a warning
  const std::set<std::string> all = listed("bugs/lanes --kernel fallback --check TM7");
  CHECK(all == std::set<std::string>{"bugs/lanes/fallback_another_lane.toml"});
  CHECK(listed("bugs/sound --check TM7").empty());
}

TEST_CASE("list scenarios: what does not exist is one line", "[list]") {
  CHECK_THAT(complaint("scenarios bugs/byts"), Catch::Contains("no folder 'bugs/byts' in "));
  CHECK_THAT(complaint("scenarios ../docs"), Catch::Contains("no folder '../docs' in "));
  CHECK_THAT(complaint("scenarios --kernel matmull"), Catch::Contains("'matmull' is not a kernel; allowed are "));
  CHECK_THAT(complaint("scenarios --check MB99"), Catch::Contains("'MB99' is not a check; near ones are MB1"));
  CHECK_THAT(complaint("kernels --check MB1"), Catch::Contains("for scenarios only"));
}

TEST_CASE("explain: an entry of the bug catalogue, with the checks that find it", "[list][checks]") {
  const ScratchDirectory here;
  const Ran found = run(here, "explain kb-28"), absent = run(here, "explain KB-16"),
            none = run(here, "explain KB-41");
  CHECK(found.exit_code == 0);
  CHECK_THAT(found.out, Catch::StartsWith("KB-28  A CTA exits before its peers are done with it\n  effect       "));
  CHECK_THAT(found.out, Catch::Contains("\n\nMB12 (error)  "));
  CHECK(absent.exit_code == 0);
  CHECK_THAT(absent.out, Catch::Contains("\n  not here     no kernel signals others"));
  CHECK(none.exit_code == 2);
}

}  // namespace sm100::sim
