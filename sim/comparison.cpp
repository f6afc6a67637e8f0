// SPDX-License-Identifier: Apache-2.0
#include "sim/comparison.h"

#include <utility>
#include <vector>

namespace sm100::sim {

using namespace host;

namespace {

/// Of all launches: the output, then what the kernel writes beside it.
uint64_t hash_of_outputs(const EndedRun& run) {
  uint64_t hash = 0;
  bool first = true;
  const auto add = [&](GlobalAddr address, uint64_t bytes) {
    const uint64_t one = hash_of(run.device.gpu.memory().data(address, bytes), bytes);
    hash = std::exchange(first, false) ? one : one ^ hash * 0x100000001b3u;
  };
  for (size_t launch = 0; launch < run.tensors.size(); ++launch) {
    const std::vector<Tensor> tensors = run.plan.run_of(int(launch)).tensors();
    add(run.tensors[launch].back(), tensors.back().bytes);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].written) add(run.tensors[launch][i], tensors[i].bytes);
  }
  return hash;
}

void note_outcome(RunResult& result, int launch, bool ok) {
  if (size_t(launch) < result.launches.size() && !result.launches[size_t(launch)].name.empty())
    result.launches[size_t(launch)].outcome = ok ? "pass" : "mismatch";
}

Check check_launch(const EndedRun& run, size_t launch) {
  const KernelRun& kernel = run.plan.run_of(int(launch));
  const std::vector<Tensor> described = kernel.tensors();
  std::vector<const uint8_t*> bytes;
  for (size_t i = 0; i < described.size(); ++i)
    bytes.push_back(run.device.gpu.memory().data(run.tensors[launch][i], described[i].bytes));
  return kernel.check(bytes);
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
  result.verified = result.check.ok;
  return result.verified ? Comparison::right : Comparison::wrong;
}

}  // namespace sm100::sim
