// SPDX-License-Identifier: Apache-2.0
/// One run of an exploration: what is perturbed in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/simulation.h"

namespace sm100::sim {

struct Perturbation {
  std::optional<uint64_t> seed;       ///< of delays everywhere
  std::vector<models::Delay> delays;  ///< beside those of the scenario
  bool record = false;                ///< RunResult::drawn: what the seed delayed
};

/// Runs the scenario in this process, which must not have run one before; the bytes of a RunReply.
std::string run_perturbed(const host::Scenario& scenario, const Prepared& prepared,
                          const Perturbation& perturbation);

}  // namespace sm100::sim
