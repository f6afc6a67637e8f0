// SPDX-License-Identifier: Apache-2.0
/// The kernel's own test.  SystemC elaborates once per process, so each case runs in a process of its own (CTest
/// does that).
#include "shift_run.h"
#include "sim/simulation.h"

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

using namespace sm100;

sim::RunResult run(const char* scenario) {
  sim::add_kernel(own::shift_code());
  return sim::run_simulation(host::load_scenario(std::string(SCENARIOS) + "/" + scenario));
}

TEST_CASE("a load into a stage that is still being read is found") {
  const sim::RunResult result = run("shift.toml");
  REQUIRE(result.findings.size() >= 1);
  CHECK(result.findings[0].barrier == "full");
  CHECK(result.findings[0].role == "load");
}

TEST_CASE("with the wait every byte is right and nothing is found") {
  const sim::RunResult result = run("shift_mended.toml");
  CHECK(result.verified);
  CHECK(result.findings.empty());
  CHECK(result.warnings.empty());
}
