// SPDX-License-Identifier: Apache-2.0
/// [problem] and [config] of a grouped block-scaled matmul's scenario.
#pragma once

#include <vector>

#include "kernels/block_scaled/host/block_scaled_problem.h"
#include "kernels/grouped_block_scaled/config.h"
#include "kernels/grouped_block_scaled/params.h"

namespace sm100::host {

struct GroupedBlockScaledProblem {
  std::vector<GroupProblem> groups;
  GroupedBlockScaledConfig config;
  bool auto_config = false;  ///< config = "auto"
  float alpha = 1;
  ScalePadding scale_padding = ScalePadding::zero;
};

}  // namespace sm100::host
