// SPDX-License-Identifier: Apache-2.0
/// Faults in plain words ("forget the release") for `sm100sim play`, each with its [[fault]].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"

namespace sm100::sim::cli {

struct PlayFault {
  std::string id;     ///< "forget-release.input_empty.mma"; the same in every configuration
  std::string words;  ///< "forget the release of input_empty"
  std::string group;  ///< whose mistake it is: a role, or "set-up"
  host::FaultSpec spec;
  uint64_t times = 0;  ///< instructions that it means in a run without faults, over all warps; 0: not known

  /// As --set has it: fault=[{role="mma",...}].
  /// @param occurrence  n-th time that a warp executes it, from 1; 0: every time
  std::string override(int64_t occurrence) const;
};

/// Of a scenario with one kernel that takes faults; empty: of others.  All are read by the reader of [[fault]].
std::vector<PlayFault> play_faults(const host::Scenario& scenario);

/// The scenario that counts what the faults mean: each delays its instructions by a cycle, and breaks nothing.
host::Scenario counting_scenario(const host::Scenario& scenario, const std::vector<PlayFault>& faults);
/// Leaves out what means no instruction of the run.
/// @param matches  RunResult::fault_matches of the counting scenario
std::vector<PlayFault> counted_faults(const std::vector<PlayFault>& faults, const std::vector<uint64_t>& matches);

}  // namespace sm100::sim::cli
