// SPDX-License-Identifier: Apache-2.0
/// [problem] and [config] of a scenario of the block-scaled matmul in CUTLASS's arrangement.
#pragma once

#include "kernels/block_scaled/host/block_scaled_problem.h"
#include "kernels/cutlass_block_scaled/config.h"

namespace sm100::host {

struct CutlassBlockScaledProblem {
  int m = 0, n = 0, k = 0;
  CutlassBlockScaledConfig config;
  bool auto_config = false;  ///< config = "auto"
  float alpha = 1;           ///< of the product
  float beta = 0;            ///< of the residual; 0: there is none
  ScalePadding scale_padding = ScalePadding::zero;
};

}  // namespace sm100::host
