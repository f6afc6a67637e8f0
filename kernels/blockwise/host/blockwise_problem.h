// SPDX-License-Identifier: Apache-2.0
/// [problem] and [config] of a blockwise matmul's scenario.
#pragma once

#include "kernels/blockwise/config.h"

namespace sm100::host {

struct BlockwiseProblem {
  int m = 0, n = 0, k = 0;
  BlockwiseConfig config;
  bool auto_config = false;  ///< config = "auto": choose_blockwise made it
};

}  // namespace sm100::host
