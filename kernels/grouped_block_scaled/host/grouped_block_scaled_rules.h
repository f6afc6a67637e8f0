// SPDX-License-Identifier: Apache-2.0
/// Rules for legal configurations of the grouped block-scaled matmul on its groups, and the configuration that
/// "auto" means.
#pragma once

#include <string>
#include <vector>

#include "kernels/grouped_block_scaled/config.h"
#include "kernels/grouped_block_scaled/params.h"
#include "kernels/matmul/host/choose_config.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

/// As check_config of the dense matmul.
std::vector<RuleViolation> check_grouped(const GroupedBlockScaledConfig& config,
                                         const std::vector<GroupProblem>& groups);
/// Of a configuration that breaks no rule.
std::vector<ConfigWarning> grouped_warnings(const GroupedBlockScaledConfig& config);

/// What an omitted `config.stages` becomes.
int default_grouped_stages(const GroupedBlockScaledConfig& config);
/// Tiles of MMAs, of all groups.
int64_t all_tiles(const GroupedBlockScaledConfig& config, const std::vector<GroupProblem>& groups);

/// `config` of the base has what is not grouped.
struct GroupedChoice : ConfigChoice {
  GroupedBlockScaledConfig grouped;
};
/// Fewest waves over the tiles of all groups, then the smallest tile.
/// @param operands  format, element type, scale type and output
GroupedChoice choose_grouped(const std::vector<GroupProblem>& groups, const GroupedBlockScaledConfig& operands,
                             int sms);

}  // namespace sm100::host
