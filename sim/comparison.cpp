// SPDX-License-Identifier: Apache-2.0
#include "sim/comparison.h"

#include <vector>

namespace sm100::sim {

using namespace host;

namespace {

/// Of a launch's tensors, in their order.
std::vector<const uint8_t*> bytes_of(const EndedRun& run, size_t launch, const std::vector<Tensor>& tensors) {
  std::vector<const uint8_t*> bytes;
  for (size_t i = 0; i < tensors.size(); ++i)
    bytes.push_back(run.device.gpu.memory().data(run.tensors[launch][i], tensors[i].bytes));
  return bytes;
}

uint64_t hash_of_outputs(const EndedRun& run) {
  uint64_t hash = 0;
  for (size_t launch = 0; launch < run.tensors.size(); ++launch) {
    const std::vector<Tensor> tensors = run.plan.run_of(int(launch)).tensors();
    hash = host::hash_of_outputs(tensors, bytes_of(run, launch, tensors), hash);
  }
  return hash;
}

void note_outcome(RunResult& result, int launch, bool ok) {
  if (size_t(launch) < result.launches.size() && !result.launches[size_t(launch)].name.empty())
    result.launches[size_t(launch)].outcome = ok ? "pass" : "mismatch";
}

Check check_launch(const EndedRun& run, size_t launch) {
  const KernelRun& kernel = run.plan.run_of(int(launch));
  return kernel.check(bytes_of(run, launch, kernel.tensors()));
}

}  // namespace

Comparison compare_outputs(const EndedRun& run, const Prepared* prepared, RunResult& result) {
  if (run.end != RunEnd::completed || !run.with_data()) return Comparison::none;
  result.output_hash = hash_of_outputs(run);
  if (prepared && prepared->right_output == result.output_hash) {
    result.check = prepared->check;
    result.checked_launch = run.launches().size() - 1;
    result.verified = true;
    for (int launch = 0; launch < run.launches().size(); ++launch) note_outcome(result, launch, true);
    return Comparison::right;
  }
  for (int launch = 0; launch < run.launches().size(); ++launch) {
    const Check check = check_launch(run, size_t(launch));
    if (result.check.ok || launch == 0)
      result.check = check, result.checked_launch = launch;  // the first wrong one
    if (!check.ok && !run.plan.named()) return Comparison::wrong;
    note_outcome(result, launch, check.ok);
  }
  if (!result.check.compared()) return Comparison::none;
  result.verified = result.check.ok;
  return result.verified ? Comparison::right : Comparison::wrong;
}

}  // namespace sm100::sim
