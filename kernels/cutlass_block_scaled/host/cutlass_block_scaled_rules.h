// SPDX-License-Identifier: Apache-2.0
/// Rules for legal configurations of the block-scaled matmul in CUTLASS's arrangement, what omitted keys become,
/// and the configuration that "auto" means.
#pragma once

#include <vector>

#include "kernels/cutlass_block_scaled/config.h"
#include "kernels/matmul/host/choose_config.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

/// As check_config of the dense matmul.
std::vector<RuleViolation> check_cutlass(const CutlassBlockScaledConfig& config, int m, int n, int k);
/// Of a configuration that breaks no rule.
std::vector<ConfigWarning> cutlass_warnings(const CutlassBlockScaledConfig& config);

/// What omitted `accum_stages` and `overlap` become: two accumulators, which overlap where N is 256.
struct AccumulatorChoice {
  int stages, overlap_columns;
};
AccumulatorChoice default_accumulators(const CutlassBlockScaledConfig& config);
/// What an omitted `stages` becomes: as many as fit shared memory, and tensor memory if each has a slot of scales.
int default_cutlass_stages(const CutlassBlockScaledConfig& config);
/// What an omitted `scale_slots` becomes: a slot for each stage, one for all where they do not fit.
/// @param config  with its accumulators and stages
int default_scale_slots(const CutlassBlockScaledConfig& config);

/// `config` of the base has what is not of this kernel.
struct CutlassChoice : ConfigChoice {
  CutlassBlockScaledConfig cutlass;
};
/// As choose_config, without swapped operands.
/// @param operands  format, element type, scale type, output, and whether there is a residual
CutlassChoice choose_cutlass(const ConfigRequest& request, const CutlassBlockScaledConfig& operands);

}  // namespace sm100::host
