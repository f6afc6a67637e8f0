// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/host/run_plan.h"
#include "sim/verdict.h"

namespace sm100::sim {

namespace {

std::string expectation(const host::RunPlan& plan, const RunResult& run) {
  std::vector<BarrierArray> barriers;
  for (const host::PlannedKernel& kernel : plan.kernels)
    for (const BarrierArray& array : kernel.run->barriers()) barriers.push_back(array);
  const auto names = host::barrier_names(barriers);
  if (run.outcome == Outcome::pass) return "";  // other bits than without jitter, but within the limit
  std::string text = fmt::format("\n[expect]\noutcome = \"{}\"\n", name(run.outcome));
  const Finding* finding = first_finding(run);
  if (!finding) return text;
  if (run.outcome == Outcome::findings) text += fmt::format("id = \"{}\"\n", finding->id);
  const bool known = std::find(names.begin(), names.end(), finding->barrier) != names.end();
  return known ? text + fmt::format("barrier = \"{}\"\n", finding->barrier) : text;
}

}  // namespace

std::string replay_text(const std::string& text, const host::Scenario& scenario, const FailingSeed& found,
                        const std::string& command) {
  const host::RunPlan plan = host::plan_of(scenario);
  std::string replay = text;
  if (!replay.empty() && replay.back() != '\n') replay += '\n';
  replay +=
      fmt::format("\n# From here on by sm100sim explore: seed {} ends in {}, and so do these delays alone.\n# {}\n",
                  found.seed, text_of(found.failure), command);
  if (!scenario.expect.stated) replay += expectation(plan, found.by_delays);
  // In order of time.  What was met is the sum with the scenario's own delay at that point, which stands in its
  // text.
  for (const DelayUse& met : found.by_delays.delays)
    if (const models::Delay* delay = delay_at(found.delays, met.delay.point))
      replay += host::delay_toml(*delay, plan, met.text);
  return replay;
}

}  // namespace sm100::sim
