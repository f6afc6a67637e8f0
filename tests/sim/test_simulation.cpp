// SPDX-License-Identifier: Apache-2.0
// The steps of a run, one by one, as a program that links the library takes them.
#include "sim/simulation.h"

#include "catch.h"
#include "sim/child_process.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;

TEST_CASE("a simulation is built, run and asked for its result", "[simulation]") {
  const host::Scenario scenario = load_scenario(source_dir() + "/scenarios/05_single_k_step.toml");
  const RunResult other = run_in_child(scenario);
  Simulation simulation(scenario);  // this test case has its process to itself
  double last = 0;
  CHECK(simulation.run({.progress = [&](double fraction, uint64_t) { last = fraction; }}) == RunEnd::completed);
  CHECK(last == 1);
  const RunResult result = simulation.result();
  CHECK(result.outcome == Outcome::pass);
  CHECK(verdict_of(result) == Verdict::clean);
  CHECK(result.cycles == other.cycles);
  CHECK(result.output_hash == other.output_hash);
}

TEST_CASE("a simulation of a scenario that does not fit is refused when it is built", "[simulation]") {
  host::Scenario scenario = load_scenario(source_dir() + "/scenarios/05_single_k_step.toml");
  scenario.device.device.smem_bytes_per_cta_max = 1024;
  CHECK_THROWS_AS(Simulation(scenario), host::InputError);
}
