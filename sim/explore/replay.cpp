// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/host/problem.h"

namespace sm100::sim {

namespace {

std::string expectation(const host::Problem& kernel, const TrialResult& run) {
  const auto names = host::barrier_names(kernel.barriers());
  const bool known = std::find(names.begin(), names.end(), run.barrier) != names.end();
  const std::string barrier = known ? fmt::format("barrier = \"{}\"\n", run.barrier) : "";
  switch (run.outcome) {
    case Outcome::hang: return "\n[expect]\noutcome = \"hang\"\n" + barrier;
    case Outcome::findings:
      return fmt::format("\n[expect]\noutcome = \"findings\"\nid = \"{}\"\n", run.id) + barrier;
    case Outcome::mismatch: return "\n[expect]\noutcome = \"mismatch\"\n";
    case Outcome::pass: break;  // other bits than without jitter, but within the limit
  }
  return "";
}

}  // namespace

std::string replay_text(const std::string& text, const host::Scenario& scenario, const Found& found,
                        const std::string& command) {
  const std::unique_ptr<host::Problem> kernel = host::make_problem(scenario);
  std::string replay = text;
  if (!replay.empty() && replay.back() != '\n') replay += '\n';
  replay +=
      fmt::format("\n# From here on by sm100sim explore: seed {} ends in {}, and so do these delays alone.\n# {}\n",
                  found.seed, text_of(found.failure), command);
  if (!scenario.expect.stated) replay += expectation(*kernel, found.by_delays);
  // In order of time.  What was met is the sum with the scenario's own delay at that point, which stands in its text.
  const auto& met = found.by_delays.met;
  for (size_t i = 0; i < met.size(); ++i)
    if (const models::Delay* delay = delay_at(found.delays, met[i].point))
      replay += host::delay_toml(*delay, *kernel, found.by_delays.met_texts[i]);
  return replay;
}

}  // namespace sm100::sim
