// SPDX-License-Identifier: Apache-2.0
// run.sm_clock_ghz = "power" and "single".
#include "sim/clock_search.h"

#include <catch.h>

#include "child_process.h"
#include "paths.h"

using namespace sm100;
using namespace sm100::host;
using namespace sm100::sim;

namespace {

/// All SMs multiply.
Scenario busy(const std::string& clock) {
  return load_scenario(scenario_dir() + "/hopper/cooperative.toml",
                       {"problem.m=1408", "problem.n=1536", "problem.k=2048", "run.sms=132", "run.data=none",
                        "run.sm_clock_ghz=" + clock});
}

}  // namespace

TEST_CASE("clock: a kernel that multiplies on all SMs holds less than the full clock, and less still for seconds") {
  const RunResult full = run_in_child(busy("1.98")), single = run_in_child(busy("\"single\"")),
                  power = run_in_child(busy("\"power\""));
  CHECK(full.clock.mode.empty());
  CHECK(single.clock.mode == "single");
  CHECK(power.clock.mode == "power");
  for (const RunResult* r : {&single, &power}) {
    CHECK(r->outcome == Outcome::pass);
    CHECK(r->sm_clock_ghz == r->clock.ghz);
    CHECK(r->microseconds == Approx(double(r->cycles) / r->sm_clock_ghz * 1e-3));
    CHECK(r->clock.runs >= 2);
    CHECK(r->clock.low_ghz < r->clock.ghz);
    CHECK(r->clock.full_ghz == 1.98);
    CHECK(r->written_bytes == 1408 * 1536 * 2);
  }
  CHECK(single.clock.ghz < 1.9);
  CHECK(power.clock.ghz < single.clock.ghz);
  CHECK(power.clock.watts == Approx(power.clock.limit_watts).epsilon(0.01));
  const double parts = power.clock.idle_watts + power.clock.sm_watts + power.clock.tensor_watts +
                       power.clock.l2_watts + power.clock.store_watts + power.clock.dram_watts +
                       power.clock.lost_watts;
  CHECK(parts == Approx(power.clock.watts));
  CHECK(power.microseconds > full.microseconds);
  CHECK(power.cycles < full.cycles);  // L2 keeps its pace
}

TEST_CASE("clock: a kernel that copies keeps the full clock") {
  const RunResult r = run_in_child(
      load_scenario(scenario_dir() + "/copy/four_stages.toml", {"run.data=none", "run.sm_clock_ghz=\"power\""}));
  CHECK(r.clock.ghz == r.clock.full_ghz);
  CHECK(r.clock.tensor_watts == 0);
  CHECK(r.clock.watts < r.clock.limit_watts);
}

TEST_CASE("clock: a kernel that hangs is reported at the full clock") {
  const Scenario s =
      load_scenario(scenario_dir() + "/bugs/arrivals/copy_count_too_large.toml", {"run.sm_clock_ghz=\"power\""});
  const RunResult r = run_in_child(s);
  CHECK(r.outcome == Outcome::hang);
  CHECK(r.clock.ghz == r.clock.full_ghz);
}

TEST_CASE("clock: another word is refused with what is allowed") {
  try {
    busy("\"fast\"");
    FAIL("taken");
  } catch (const InputError& error) {
    CHECK(std::string(error.what())
              .find("key 'run.sm_clock_ghz' = \"fast\": allowed are numbers 0.1 to 5, \"power\" and "
                    "\"single\"") != std::string::npos);
  }
}
