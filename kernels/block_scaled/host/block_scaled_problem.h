// SPDX-License-Identifier: Apache-2.0
/// [problem] and [config] of a block-scaled matmul's scenario.
#pragma once

#include "kernels/block_scaled/config.h"

namespace sm100::host {

/// What the scale tensors hold beyond the rows and scales of the problem.
enum class ScalePadding : uint8_t {
  zero,  ///< finite in both types, so that padding times TMA's zeros is zero
  nan,   ///< a mistake: 0 * NaN is NaN
};

struct BlockScaledProblem {
  int m = 0, n = 0, k = 0;
  BlockScaledConfig config;
  bool auto_config = false;  ///< config = "auto": choose_block_scaled_config made it
  float alpha = 1;           ///< the product of the two tensors' scales
  float norm = 1;            ///< of a quantised output
  ScalePadding scale_padding = ScalePadding::zero;
};

}  // namespace sm100::host
