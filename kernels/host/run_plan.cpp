// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/run_plan.h"

#include <fmt/format.h>

#include "kernels/host/read_config.h"

namespace sm100::host {
namespace {

int64_t ctas_of(const KernelRun& run) {
  const Dim3 grid = run.launch().grid;
  return int64_t(grid.x) * grid.y * grid.z;
}

/// run.feed: what each launch reads of the one before.
std::vector<PlannedLaunch::Input> fed_by_launch_before(const Scenario& s, const KernelRun& run, int launch) {
  std::vector<PlannedLaunch::Input> inputs;
  if (launch == 0) return inputs;
  for (const FeedInput& input : run.feed_inputs())
    if (input.word == s.feed) inputs.push_back({input.tensor, launch - 1});
  return inputs;
}

RunPlan plan_of_one_kernel(const Scenario& s) {
  RunPlan plan;
  plan.kernels.push_back({.definition = s.kernel, .run = make_run(s), .registers = s.registers});
  const KernelRun& run = *plan.kernels.front().run;
  for (int i = 0; i < s.launches; ++i)
    plan.launches.push_back({.programmatic = run.launch().pdl && i > 0, .inputs = fed_by_launch_before(s, run, i)});
  return plan;
}

/// The scenario as if it launched this kernel only.
std::unique_ptr<const Scenario> own_scenario(const Scenario& s, const LaunchSpec& spec) {
  auto own = std::make_unique<Scenario>(s);
  own->kernel = spec.kernel;
  own->problem = spec.problem;
  return own;
}

bool has_ahead(const RunPlan& plan, int stream) {
  for (const PlannedLaunch& launch : plan.launches)
    if (launch.stream == stream) return true;
  return false;
}

std::vector<PlannedLaunch::Input> inputs_of(const LaunchSpec& spec, const KernelRun& run) {
  std::vector<PlannedLaunch::Input> inputs;
  const std::vector<Tensor> tensors = run.tensors();
  for (const LaunchInput& input : spec.inputs)
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].name == input.tensor) inputs.push_back({i, input.launch});
  return inputs;
}

}  // namespace

RunPlan plan_of(const Scenario& s) {
  if (s.launch_list.empty()) return plan_of_one_kernel(s);
  RunPlan plan;
  for (const LaunchSpec& spec : s.launch_list) {
    PlannedKernel kernel{.name = spec.name, .definition = spec.kernel, .own = own_scenario(s, spec)};
    kernel.run = make_run(*kernel.own);
    kernel.registers = spec.registers > 0 ? spec.registers : s.registers;
    plan.launches.push_back(
        {.kernel = plan.kernels.size(),
         .stream = spec.stream,
         .after = spec.after,
         .programmatic = spec.pdl.value_or(kernel.run->launch().pdl) && has_ahead(plan, spec.stream),
         .inputs = inputs_of(spec, *kernel.run)});
    plan.kernels.push_back(std::move(kernel));
  }
  return plan;
}

int64_t RunPlan::first_cta(int launch) const {
  int64_t ctas = 0;
  for (int ahead = 0; ahead < launch; ++ahead) ctas += ctas_of(run_of(ahead));
  return ctas;
}

int RunPlan::of_cta(int64_t cta) const {
  int launch = int(launches.size()) - 1;
  while (launch > 0 && cta < first_cta(launch)) --launch;
  return launch;
}

double RunPlan::flops() const {
  double sum = 0;
  for (const PlannedLaunch& launch : launches) sum += kernels[launch.kernel].run->flops();
  return sum;
}

double RunPlan::bytes() const {
  double sum = 0;
  for (const PlannedLaunch& launch : launches) sum += kernels[launch.kernel].run->bytes();
  return sum;
}

std::string RunPlan::title() const {
  if (!named()) return kernels.front().run->title();
  std::string text;
  for (const PlannedKernel& kernel : kernels)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", kernel.name, kernel.run->title());
  return text;
}

std::optional<int> read_launch(const TomlTable& table, const Scenario& s) {
  if (s.launch_list.empty()) {
    if (!table.has("launch")) return std::nullopt;
    return read_int(table, "launch", 0, s.launches - 1);
  }
  std::vector<std::string_view> names;
  for (const LaunchSpec& spec : s.launch_list) names.push_back(spec.name);
  const std::string name = table.word("launch", names);
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return int(i);
  return std::nullopt;
}

}  // namespace sm100::host
