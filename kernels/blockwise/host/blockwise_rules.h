// SPDX-License-Identifier: Apache-2.0
/// Rules for legal configurations of the blockwise matmul on a problem.
#pragma once

#include "kernels/blockwise/config.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

/// Registers of a thread that a tile's sums may take.  A thread has 255; with 192 sums and trace points ptxas
/// spills.
inline constexpr int kMostSumRegisters = 160;

/// As check_config of the dense matmul.
std::vector<RuleViolation> check_blockwise(const BlockwiseConfig& config, int m, int n, int k);

/// Most stages whose tiles and scales fit shared memory; 0: none.
int stages_in_shared_memory(const BlockwiseConfig& config);
/// What an omitted `config.stages` becomes.
int default_stages(const BlockwiseConfig& config);

}  // namespace sm100::host
