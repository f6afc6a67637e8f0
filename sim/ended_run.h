// SPDX-License-Identifier: Apache-2.0
/// A run that has come to its end, as those see it who say what it found (sim/run_findings.h, sim/comparison.h,
/// sim/run_figures.h).
#pragma once

#include <vector>

#include "kernels/host/run_plan.h"
#include "sim/device.h"
#include "sim/verdict.h"

namespace sm100::sim {

struct EndedRun {
  const host::Scenario& scenario;
  const host::RunPlan& plan;
  Device& device;
  const std::vector<std::vector<GlobalAddr>>& tensors;  ///< by launch, in the order of KernelRun::tensors()
  RunEnd end = RunEnd::completed;
  models::Cycles stopped = 0;  ///< cycle at which it ended

  bool with_data() const { return scenario.data == host::DataMode::full; }
  const LaunchList& launches() const { return device.launches; }
  /// CTAs whose work running ones took over through CLC.
  uint64_t ctas_by_clc() const { return device.ctas_by_clc(); }
};

}  // namespace sm100::sim
