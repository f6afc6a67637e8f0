// SPDX-License-Identifier: Apache-2.0
/// [problem] and [config] of a grouped 1D-1D matmul's scenario.
#pragma once

#include <vector>

#include "kernels/block_scaled/host/block_scaled_problem.h"
#include "kernels/grouped_1d1d/config.h"

namespace sm100::host {

struct Grouped1d1dProblem {
  std::vector<int> tokens;   ///< rows of each group; masked: of each expert
  std::vector<int> experts;  ///< of each group, -1: none; masked: 0, 1, ...
  int num_experts = 0;       ///< that B stacks
  int n = 0, k = 0;          ///< of each expert
  int alignment = 128;       ///< contiguous: groups begin at multiples of so many rows
  int slot_rows = 0;         ///< masked: of each expert's slot
  ScalePadding scale_padding = ScalePadding::zero;
  Grouped1d1dConfig config;
  bool auto_config = false;  ///< config = "auto": choose_grouped_1d1d made it
};

}  // namespace sm100::host
