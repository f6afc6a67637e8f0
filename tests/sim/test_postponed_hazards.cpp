// SPDX-License-Identifier: Apache-2.0
// Hazards that are looked at later: the same result as if they were looked at as they come.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "sim/child_process.h"
#include "sim/hazards/postponed_calls.h"
#include "sim/provenance/repetition.h"
#include "sim/run_json.h"
#include "sim/scenario_files.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

std::string result_of(const Scenario& scenario, HazardLooks hazards) {
  RunResult result = reply_in_child([&] {
                       return bytes_of_run([&](Json&) { return run_simulation(scenario, {.hazards = hazards}); });
                     }).result;
  result.wall_seconds = 0, result.peak_rss_bytes = 0;
  return Json(result).dump(1);
}

}  // namespace

TEST_CASE("calls are made later, in their order and each at its time", "[postponed]") {
  struct Receiver {
    std::vector<uint64_t> heard;
  } receiver;
  PostponedCalls<Receiver> calls;
  constexpr uint64_t kCalls = 3000;  // the room grows
  for (uint64_t i = 0; i < kCalls; ++i) {
    if (i % 2)
      calls.add(10 * i, [i](Receiver& r) { r.heard.push_back(i); });
    else
      calls.add(10 * i,
                [i, more = i + 1, small = uint8_t(3)](Receiver& r) { r.heard.push_back(i + more + small); });
  }
  CHECK(receiver.heard.empty());
  uint64_t now = 0;
  std::vector<uint64_t> times;
  calls.make(receiver, [&](models::Cycles time) { times.push_back(now = time); });
  REQUIRE(receiver.heard.size() == kCalls);
  for (uint64_t i = 0; i < kCalls; ++i) {
    CHECK(receiver.heard[i] == (i % 2 ? i : 2 * i + 4));
    CHECK(times[i] == 10 * i);
  }
  CHECK(calls.empty());
  calls.make(receiver, [](models::Cycles) {});
  CHECK(receiver.heard.size() == kCalls);
}

TEST_CASE("a bug is told alike, whether hazards are looked at later or as they come", "[postponed]") {
  size_t number = 0, with_findings = 0;
  for (const std::filesystem::path& folder : scenario_folders("bugs"))
    for (const std::string& name : scenario_names(folder)) {
      if (++number % 9 != 0) continue;
      INFO(name);
      const Scenario scenario = load_by_name(name);
      const std::string at_once = result_of(scenario, HazardLooks::at_once);
      CHECK(result_of(scenario, HazardLooks::postponed) == at_once);
      with_findings += Json::parse(at_once).at("outcome") == "findings";
    }
  CHECK(with_findings > 10);
}

TEST_CASE("a repetition hands back what text has no numbers for", "[postponed]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  provenance::Repetition repetition([] {
    RunResult result;
    result.outcome = Outcome::mismatch;
    result.check.relative_error = kInfinity;
    result.check.wrong_element = host::WrongElement{1, 2, -kInfinity, 3};
    return result;
  });
  REQUIRE(repetition.is_there());
  const std::optional<RunResult> result = repetition.result();
  REQUIRE(result);
  CHECK(result->check.relative_error == kInfinity);
  REQUIRE(result->check.wrong_element);
  CHECK(result->check.wrong_element->value == -kInfinity);
  CHECK_FALSE(repetition.result());
}

TEST_CASE("a run with a hazard must be repeated, once it was looked at later", "[postponed]") {
  const Scenario scenario = load_by_name("bugs/phases/first_fill_not_awaited");
  Simulation simulation(scenario, {.hazards = HazardLooks::postponed});  // the case has its process to itself
  simulation.run();
  CHECK(simulation.must_be_repeated());
}

TEST_CASE("a run without hazards is not repeated, and ends as if they were looked at as they come", "[postponed]") {
  const Scenario scenario = load_by_name("01_dense_small");
  const std::string at_once = result_of(scenario, HazardLooks::at_once);
  Simulation simulation(scenario, {.hazards = HazardLooks::postponed});
  simulation.run();
  REQUIRE_FALSE(simulation.must_be_repeated());
  RunResult result = simulation.result();
  result.wall_seconds = 0, result.peak_rss_bytes = 0;
  CHECK(Json(result).dump(1) == at_once);
}
