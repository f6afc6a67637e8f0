// SPDX-License-Identifier: Apache-2.0
#include "sim/comparison.h"

#include <vector>

namespace sm100::sim {

using namespace host;

namespace {

/// Of all launches.
uint64_t hash_of_outputs(const EndedRun& run) {
  const uint64_t bytes = run.problem.tensors().back().bytes;
  uint64_t hash = 0;
  for (size_t launch = 0; launch < run.tensors.size(); ++launch) {
    const uint64_t one = hash_of(run.device.gpu.memory().data(run.tensors[launch].back(), bytes), bytes);
    hash = launch == 0 ? one : one ^ hash * 0x100000001b3u;
  }
  return hash;
}

Check check_launch(const EndedRun& run, size_t launch) {
  const std::vector<Tensor> described = run.problem.tensors();
  std::vector<const uint8_t*> bytes;
  for (size_t i = 0; i < described.size(); ++i)
    bytes.push_back(run.device.gpu.memory().data(run.tensors[launch][i], described[i].bytes));
  return run.problem.check(bytes);
}

}  // namespace

Comparison compare_outputs(const EndedRun& run, const Prepared* prepared, RunResult& result) {
  if (run.end != RunEnd::completed || !run.with_data()) return Comparison::none;
  result.output_hash = hash_of_outputs(run);
  if (prepared && prepared->right_output == result.output_hash) {
    result.check = prepared->check;
    result.checked_launch = run.kernel.launches - 1;
    result.verified = true;
    return Comparison::right;
  }
  for (int launch = 0; launch < run.kernel.launches; ++launch) {
    result.check = check_launch(run, size_t(launch));
    result.checked_launch = launch;
    if (!result.check.ok) return Comparison::wrong;
  }
  result.verified = true;
  return Comparison::right;
}

}  // namespace sm100::sim
