// SPDX-License-Identifier: Apache-2.0
// The JSON of the commands: who wrote it, null for what does not apply, and the same bytes wherever it runs.
#include <nlohmann/json.hpp>
#include <set>

#include "catch.h"
#include "kernels/host/version.h"
#include "paths.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Ran& ran) {
  INFO(ran.out << ran.err);
  Json json = Json::parse(ran.out, nullptr, false);
  REQUIRE(json.is_object());
  return json;
}

/// The text of a run without what depends on the machine.
std::string without_host(Json json) {
  CHECK(json.contains("host"));
  json.erase("host");
  return json.dump(2);
}

}  // namespace

TEST_CASE("JSON: every command says which schema and which program", "[json]") {
  ScratchDirectory scratch;
  REQUIRE(run(scratch, "run single_k_step --data none --trace t.pftrace").exit_code == 0);
  const std::pair<const char*, std::string> commands[] = {
      {"run", "run single_k_step --data none --json -"},
      {"check", "check single_k_step --json -"},
      {"explore", "explore single_k_step --set run.data=none --seeds 1 --json -"},
      {"explain-config", "explain-config 512 512 512 --json -"},
      {"stats", "stats t.pftrace --critical-path --json -"},
      {"diff", "diff t.pftrace t.pftrace --json -"},
      {"ledger", "ledger single_k_step --format json"},
      {"list", "list --json -"}};
  for (const auto& [name, arguments] : commands) {
    CAPTURE(name);
    const Json json = json_of(run(scratch, arguments));
    auto member = json.begin();
    CHECK(member.key() == "schema");
    CHECK(*member == std::string("sm100sim.") + name);
    CHECK((++member).key() == "schema_version");
    CHECK(*member == 1);
    CHECK((++member).key() == "tool_version");
    CHECK(*member == "sm100sim " + host::version_text());
  }
}

TEST_CASE("JSON: two runs differ in their host object only", "[json]") {
  ScratchDirectory scratch;
  for (const std::string command :
       {"run pairs --jitter 3 --json -", "explore one_stage --set problem.k=128 --seeds 3 --json -"}) {
    CAPTURE(command);
    const Json a = json_of(run(scratch, command)), b = json_of(run(scratch, command));
    CHECK(without_host(a) == without_host(b));
  }
  const std::string explore = "explore one_stage --set problem.k=128 --seeds 6 --json - --jobs ";
  CHECK(without_host(json_of(run(scratch, explore + "1"))) == without_host(json_of(run(scratch, explore + "3"))));
}

TEST_CASE("JSON: what does not apply is null", "[json]") {
  ScratchDirectory scratch;
  const Json none = json_of(run(scratch, "run single_k_step --data none --json -"));
  for (const char* key : {"verified", "relative_error", "error_limit", "output_hash", "jitter"}) {
    CAPTURE(key);
    CHECK(none.contains(key));
    CHECK(none[key].is_null());
  }
  const Json data = json_of(run(scratch, "run single_k_step --json -"));
  CHECK(data["verified"] == true);
  CHECK(data["output_hash"].is_string());
  CHECK(data["launches"][0]["end"].get<uint64_t>() > data["launches"][0]["begin"].get<uint64_t>());
  CHECK(data["overrides"].empty());

  const Json hang = json_of(run(scratch, "run bugs/launches/launch_ahead_hangs --json -"));
  CHECK(hang["outcome"] == "hang");
  CHECK(hang["launches"][0]["end"].is_null());  // it has not completed
  CHECK(hang["tflops"].is_null());

  const Json copy = json_of(run(scratch, "run copy/narrow --json -"));
  CHECK(copy["tflops"].is_null());
  CHECK(copy["gb_per_s"].get<double>() > 0);

  const Json finding = json_of(run(scratch, "run bugs/locks/lock_misaligned --json -"));
  REQUIRE(finding["findings"].size() == 1);
  CHECK(finding["findings"][0]["stage"].is_null());
  CHECK(finding["findings"][0]["barrier"].is_null());
  CHECK(finding["findings"][0]["fault_role"].is_null());
  CHECK(finding["findings"][0]["role"].is_string());
}

TEST_CASE("JSON: findings that are the same but for the CTA are one with a count", "[json]") {
  ScratchDirectory scratch;
  const Json json = json_of(run(scratch, "run bugs/lifetime/load_drain_missing --json -"));
  REQUIRE(!json["findings"].empty());
  std::set<std::string> distinct;
  for (const Json& f : json["findings"]) {
    CHECK(f["count"].get<int>() >= 1);
    CHECK(distinct.insert(f["id"].dump() + f["barrier"].dump() + f["role"].dump() + f["location"].dump()).second);
  }
}

TEST_CASE("JSON: explore tells what it found, with the delays and the replay", "[json]") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "explore explore/neighbour_overwritten --jobs 2 --json -");
  CHECK(ran.exit_code == 1);
  const Json json = json_of(ran);
  CHECK(json["result"] == "found");
  CHECK(json["found"]["failure"]["kind"] == "numbers");
  CHECK(json["found"]["delays"].size() >= 1);
  CHECK(json["found"]["replay"] == "sm100sim run neighbour_overwritten.replay.toml");
  CHECK(json["found"]["run"]["outcome"] == "mismatch");
  CHECK(json["without_jitter"]["outcome"] == "pass");
  CHECK(json["without_jitter_failure"].is_null());

  const Json clean = json_of(run(scratch, "explore single_k_step --seeds 2 --json -"));
  CHECK(clean["result"] == "clean");
  CHECK(clean["found"].is_null());
  CHECK(clean["coverage"]["runs"] == 3);
}

TEST_CASE("JSON: stats and list have what their texts have", "[json]") {
  ScratchDirectory scratch;
  REQUIRE(run(scratch, "run single_k_step --data none --trace t.pftrace").exit_code == 0);
  const Json stats = json_of(run(scratch, "stats t.pftrace --json -"));
  CHECK(stats["critical_path"].is_null());
  CHECK(stats["roles"].size() == 4);
  CHECK(stats["tensor_core"]["sms"].get<int>() >= 1);
  CHECK(!stats["spans"].empty());
  const Json path = json_of(run(scratch, "stats t.pftrace --critical-path --json -"))["critical_path"];
  CHECK(path["verdict"].is_string());
  uint64_t sum = 0;
  for (const Json& share : path["shares"]) sum += share["ticks"].get<uint64_t>();
  CHECK(sum == path["ticks"]);

  const Json list = json_of(run(scratch, "list scenarios --json -"));
  CHECK(list["scenarios"].size() > 200);
  CHECK_FALSE(list.contains("checks"));
  for (const Json& s : list["scenarios"]) CHECK(s["error"].is_null());
  const Json all = json_of(run(scratch, "list --json -"));
  for (const char* key : {"kernels", "profiles", "scenarios", "isa", "checks", "faults"}) CHECK(!all[key].empty());
}

}  // namespace sm100::sim
