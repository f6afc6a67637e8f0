// SPDX-License-Identifier: Apache-2.0
#include "sim/prepared.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

namespace sm100::sim {

using namespace host;

void check_memory(const Scenario& s, const RunPlan& plan) {
  if (s.data == DataMode::none) return;
  double bytes = 0;
  for (const PlannedKernel& kernel : plan.kernels) {
    bytes += kernel.run->check_bytes();
    for (const Tensor& tensor : kernel.run->tensors()) bytes += double(tensor.bytes);
  }
  bytes += double(plan.launches.size() - plan.kernels.size()) * double(plan.run_of(0).tensors().back().bytes);
  const double physical = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  if (bytes > 0.9 * physical)
    throw InputError(fmt::format("{}: {} with data needs {:.0f} GiB, this machine has {:.0f}; use --data none",
                                 s.path.string(), plan.title(), bytes / (1 << 30), physical / (1 << 30)));
}

Prepared prepare(const Scenario& scenario) {
  Prepared prepared;
  const RunPlan plan = plan_of(scenario);
  check_memory(scenario, plan);
  if (plan.named()) return prepared;
  const KernelRun& problem = plan.run_of(0);
  const std::vector<Tensor> tensors = problem.tensors();
  prepared.tensors.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (scenario.data == DataMode::none && !tensors[i].locks && !tensors[i].metadata) continue;
    prepared.tensors[i].resize(tensors[i].bytes);
    problem.fill(i, prepared.tensors[i].data());
  }
  return prepared;
}

}  // namespace sm100::sim
