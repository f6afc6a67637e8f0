// SPDX-License-Identifier: Apache-2.0
/// [problem] and [config] of a grouped 1D-2D matmul's scenario.
#pragma once

#include "kernels/grouped_1d1d/host/token_problem.h"
#include "kernels/grouped_1d2d/config.h"

namespace sm100::host {

struct Grouped1d2dProblem : TokenProblem {
  Grouped1d2dConfig config;
  bool auto_config = false;  ///< config = "auto": choose_grouped_1d2d made it
};

}  // namespace sm100::host
