// SPDX-License-Identifier: Apache-2.0
/// [problem] and [config] of the dense matmul.
#pragma once

#include "kernels/matmul/config.h"

namespace sm100::host {

struct MatmulProblem {
  int m = 0, n = 0, k = 0;
  MatmulConfig config;
  bool auto_config = false;   ///< config = "auto": choose_config made it
  float alpha = 1, beta = 1;  ///< of the epilogue: factors of the product and of the residual
};

}  // namespace sm100::host
