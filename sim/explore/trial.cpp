// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/trial.h"

#include <fmt/format.h>

#include "sim/run_reply.h"

namespace sm100::sim {
namespace {

host::Scenario perturbed(host::Scenario scenario, const Trial& trial) {
  if (trial.seed) {
    scenario.jitter = trial.seed;
    scenario.overrides.push_back(fmt::format("run.jitter={}", *trial.seed));  // for the report's replay line
  }
  for (const models::Delay& d : trial.delays) scenario.delays.push_back({d, ""});
  return scenario;
}

}  // namespace

std::string run_trial(const host::Scenario& scenario, const Prepared& prepared, const Trial& trial) {
  return bytes_of_run([&](Json&) {
    return run_simulation(perturbed(scenario, trial), {.prepared = &prepared, .record_delays = trial.record});
  });
}

}  // namespace sm100::sim
