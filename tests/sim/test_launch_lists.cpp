// SPDX-License-Identifier: Apache-2.0
// Runs of several kernels: [[launch]], streams, events, outputs that others read.
#include <algorithm>
#include <tuple>

#include "catch.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/child_process.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Scenario launches(const char* name, std::vector<std::string> overrides = {}) {
  return load_scenario(source_dir() + "/scenarios/launches/" + name + ".toml", overrides);
}

bool has_role(const RunResult& r, std::string_view role) {
  return std::any_of(r.roles.begin(), r.roles.end(), [&](const RoleTime& time) { return time.role == role; });
}

}  // namespace

TEST_CASE("each launch of a list is compared with its own reference", "[launches]") {
  for (const char* name : {"two_kernels", "split_k_two_streams", "split_k_pdl", "held_sms"}) {
    INFO(name);
    const RunResult r = run_in_child(launches(name));
    CHECK(r.verified);
    REQUIRE(r.launches.size() >= 2);
    for (const LaunchTime& launch : r.launches) {
      CHECK(launch.outcome == "pass");
      CHECK(launch.begin < launch.end);
    }
  }
}

TEST_CASE("two streams overlap, an event puts a launch behind both, and with PDL it starts earlier", "[launches]") {
  const RunResult serial = run_in_child(launches("split_k_two_streams")),
                  pdl = run_in_child(launches("split_k_pdl"));
  const auto& [left, right, sum] = std::tie(serial.launches[0], serial.launches[1], serial.launches[2]);
  CHECK(right.begin == left.begin);
  CHECK(sum.begin > std::max(left.end, right.end));
  CHECK(pdl.launches[2].begin < serial.launches[2].begin);
  CHECK(pdl.output_hash == serial.output_hash);
}

TEST_CASE("kernels of a list have their own roles, and what a role waits for is its kernel's", "[launches]") {
  const RunResult r = run_in_child(launches("split_k_two_streams"));
  for (const char* role : {"left.load", "left.mma", "right.load", "right.epilogue", "sum.reduce"})
    CHECK(has_role(r, role));
  CHECK_FALSE(has_role(r, "load"));
}

TEST_CASE("one wrong launch makes the run's verdict, the others keep theirs", "[launches]") {
  // The last stage is committed late: the bytes of a tile of "left" are those of another.
  Scenario s = launches("split_k_two_streams");
  FaultSpec fault;
  fault.instruction = "cp_async_bulk_tensor_shared_global";
  fault.role = "load";
  fault.launch = 0;
  fault.occurrence = 3;
  fault.action = host::FaultAction::add;
  fault.operand = "x";
  fault.value = 64;
  s.faults = {fault};
  s.expect = {};
  const RunResult r = run_in_child(s);
  CHECK(r.outcome == Outcome::mismatch);
  CHECK(r.checked_launch == 0);
  CHECK(r.launches[0].outcome == "mismatch");
  CHECK(r.launches[1].outcome == "pass");
  CHECK(r.launches[2].outcome == "pass");  // it adds what it was given
}

TEST_CASE("without data a list takes the same time", "[launches]") {
  const RecordedRun full = record_in_child(launches("split_k_pdl")),
                    none = record_in_child(launches("split_k_pdl", {"run.data=none"}));
  CHECK(full.cycles == none.cycles);
  CHECK(full.barrier_hash == none.barrier_hash);
  CHECK(none.launches[1].outcome == "completed");
}

TEST_CASE("an event that is missing and a wait that is missing are told apart", "[launches]") {
  const Finding event = finding_of(run_in_child(launches("missing_event")));
  CHECK(event.id == "GD2");
  CHECK_THAT(event.message, Catch::Contains("by sum from the output of right"));
  const Finding wait = finding_of(run_in_child(launches("pdl_without_wait")));
  CHECK(wait.id == "GD1");
  CHECK_THAT(wait.message, Catch::Contains("by sum from the output of left, which has not completed"));
}

TEST_CASE("the missing event is found whether or not the other stream has finished by then", "[launches]") {
  for (const auto& [k, outcome] : {std::pair{"512", "completed"}, std::pair{"8192", "unfinished"}}) {
    const RunResult r = run_in_child(launches("missing_event", {std::string("launch.1.problem.k=") + k}));
    REQUIRE(r.launches.size() == 3);
    CHECK(r.launches[1].outcome == outcome);
    CHECK(r.launches[2].outcome == "findings");
    CHECK(finding_of(r).id == "GD2");
  }
}

TEST_CASE("a fault in one launch leaves the others alone, and the report names the launch", "[launches]") {
  Scenario s = launches("split_k_two_streams");
  FaultSpec fault;
  fault.instruction = "mbarrier_arrive_expect_tx";
  fault.role = "load";
  fault.launch = 1;
  fault.action = host::FaultAction::drop;
  fault.occurrence = 2;
  s.faults = {fault};
  s.expect = {};
  const RunResult r = run_in_child(s);
  CHECK(r.outcome != Outcome::pass);
  CHECK(finding_of(r).cta >= 4);
  CHECK(finding_of(r).cta < 8);
  CHECK_THAT(r.report, Catch::Contains("(right)"));
  CHECK(r.launches[0].outcome == "completed");
  CHECK(r.launches[2].outcome == "not started");
}

TEST_CASE("a kernel that holds SMs keeps the others' CTAs out until it exits", "[launches]") {
  const RunResult held = run_in_child(launches("held_sms")),
                  free = run_in_child(launches("held_sms", {"launch.0.problem.microseconds=0.1"}));
  CHECK(held.launches[0].end - held.launches[0].begin >= 20 * 1800);
  CHECK(held.ctas_by_clc > free.ctas_by_clc);
}

TEST_CASE("launches are in the JSON with name, kernel, stream and outcome", "[launches]") {
  const Json json = run_in_child(launches("split_k_two_streams"));
  REQUIRE(json.at("launches").size() == 3);
  const Json& right = json.at("launches").at(1);
  CHECK(right.at("name") == "right");
  CHECK(right.at("kernel") == "matmul");
  CHECK(right.at("stream") == 1);
  CHECK(right.at("outcome") == "pass");
  const Json configuration = Json::parse(launches("split_k_two_streams").configuration_json());
  CHECK(configuration.at("kernel") == "matmul + matmul + reduce");
  CHECK(configuration.at("launches").at(2).at("after") == Json::array({"right"}));
  CHECK(configuration.at("launches").at(2).at("inputs").at("P1") == "right.C");
  CHECK(configuration.at("right.k") == 1024);
}

TEST_CASE("launches of different kernels share SMs where they fit", "[launches]") {
  const Scenario s = launches("split_k_two_streams", {"run.ctas_per_sm=hardware", "run.sms=4"});
  const RunResult shared = run_in_child(s), alone = run_in_child(launches("split_k_two_streams", {"run.sms=4"}));
  CHECK(shared.verified);
  CHECK(alone.verified);
  CHECK(shared.launches[1].begin < alone.launches[1].begin);
}

TEST_CASE("reduce adds any number of partial sums, whatever the grid's end", "[launches][reduce]") {
  ScratchDirectory scratch;
  const auto file =
      scratch.write("s.toml", "kernel = 'reduce'\nprofile = 'b200'\n[problem]\nm = 9\nn = 384\n[run]\nsms = 2\n");
  for (const char* config : {"config={slices=2}", "config={slices=8}", "config={slices=3,output=\"f32\"}"}) {
    INFO(config);
    const RunResult r = run_in_child(load_scenario(file, {config}));
    CHECK(r.verified);
    CHECK(verdict_of(r) == Verdict::clean);
  }
}
