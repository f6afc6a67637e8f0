// SPDX-License-Identifier: Apache-2.0
#include "exec/worker.h"

#include <chrono>

#include "exec/functional.h"
#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "sim/verdict.h"

namespace sm100::exec {
namespace {

Dim3 dim3(const uint32_t (&d)[3]) { return {d[0], d[1], d[2]}; }

/// Between two looks whether the program is still there.
constexpr std::chrono::milliseconds kPatience{200};

}  // namespace

host::Scenario scenario_of(const Launch& launch, const host::Scenario& device, const DeviceMemory& memory) {
  host::PtxLaunchValues values{.module = launch.module,
                               .entry = launch.entry,
                               .grid = dim3(launch.shape.grid),
                               .block = dim3(launch.shape.block),
                               .cluster = dim3(launch.shape.cluster),
                               .dynamic_smem_bytes = launch.shape.dynamic_smem_bytes,
                               .parameters = launch.parameters,
                               .memory = {},
                               .variables = {},
                               .before_trial = [&memory] { memory.make_private(); }};
  for (const Block& block : launch.memory)
    values.memory.push_back({block.address, block.bytes, reinterpret_cast<uint8_t*>(block.address)});
  for (const Block& variable : launch.variables) values.variables.push_back(variable.address);
  host::Scenario scenario = device;
  scenario.name = launch.name();
  scenario.path = launch.name();
  scenario.kernel = &host::ptx_definition();
  scenario.problem = host::problem_of(values, launch.name());
  return scenario;
}

LaunchOutcome carry_out(const Launch& launch, const host::Scenario& scenario, const std::function<bool()>& wanted) {
  const bool functional = runs_without_models(launch);
  sim::ProcessPool worker(1);
  worker.start(0, [&] {
    return sim::bytes_of_run([&](sim::Json&) {
      return functional ? run_without_models(launch, scenario) : sim::run_simulation(scenario);
    });
  });
  std::optional<sim::ProcessPool::Finished> finished;
  while (!finished) {
    finished = worker.wait(sim::ProcessPool::Clock::now() + kPatience);
    if (!finished && !wanted()) worker.stop(0);
  }
  sim::RunReply reply = sim::reply_of(*finished);
  LaunchOutcome outcome;
  outcome.functional = functional;
  outcome.bad_launch = !reply.input_error.empty();
  outcome.error = reply.error("the worker of this launch");
  outcome.result = std::move(reply.result);
  outcome.carried_out = outcome.error.empty() && outcome.result.outcome == sim::Outcome::pass;
  return outcome;
}

}  // namespace sm100::exec
