// SPDX-License-Identifier: Apache-2.0
/// [problem] and [config] of a grouped 1D-1D matmul's scenario.
#pragma once

#include "kernels/block_scaled/host/block_scaled_problem.h"
#include "kernels/grouped_1d1d/config.h"
#include "kernels/grouped_1d1d/host/token_problem.h"

namespace sm100::host {

struct Grouped1d1dProblem : TokenProblem {
  ScalePadding scale_padding = ScalePadding::zero;
  Grouped1d1dConfig config;
  bool auto_config = false;  ///< config = "auto": choose_grouped_1d1d made it
};

}  // namespace sm100::host
