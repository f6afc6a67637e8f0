// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/perturbation.h"

#include <fmt/format.h>

#include "sim/run_reply.h"

namespace sm100::sim {
namespace {

host::Scenario perturbed(host::Scenario scenario, const Perturbation& perturbation) {
  if (perturbation.seed) {
    scenario.jitter = perturbation.seed;
    scenario.overrides.push_back(fmt::format("run.jitter={}", *perturbation.seed));  // for the report's replay line
  }
  for (const models::Delay& d : perturbation.delays) scenario.delays.push_back({d, ""});
  // Many runs of a search are wrong; whoever replays the one that it names is told why.
  if (scenario.provenance == host::ProvenanceMode::automatic) scenario.provenance = host::ProvenanceMode::off;
  return scenario;
}

}  // namespace

std::string run_perturbed(const host::Scenario& scenario, const Prepared& prepared,
                          const Perturbation& perturbation) {
  return bytes_of_run([&](Json&) {
    return run_simulation(perturbed(scenario, perturbation),
                          {.prepared = &prepared, .record_delays = perturbation.record});
  });
}

}  // namespace sm100::sim
