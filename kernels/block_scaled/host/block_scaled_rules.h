// SPDX-License-Identifier: Apache-2.0
/// Rules for legal configurations of the block-scaled matmul on a problem.
#pragma once

#include "kernels/block_scaled/config.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

/// As check_config of the dense matmul.
std::vector<RuleViolation> check_block_scaled(const BlockScaledConfig& config, int m, int n, int k);

/// Most stages whose tiles fit shared memory, and whose scales fit tensor memory beside the accumulators; 0: none.
int stages_in_shared_memory(const BlockScaledConfig& config);
int stages_in_tensor_memory(const BlockScaledConfig& config);
/// What an omitted `config.stages` becomes.
int default_stages(const BlockScaledConfig& config);
/// What an omitted `config.accum_stages` becomes: two where scales leave room for them.
int default_accum_stages(const BlockScaledConfig& config);

}  // namespace sm100::host
