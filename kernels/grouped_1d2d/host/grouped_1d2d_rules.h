// SPDX-License-Identifier: Apache-2.0
/// Rules for legal configurations of the grouped 1D-2D matmul on a problem.
#pragma once

#include "kernels/grouped_1d2d/host/grouped_1d2d_problem.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

/// Every rule that is broken.  Of the problem alone where that is wrong: nothing else can be said then.
std::vector<RuleViolation> check_grouped_1d2d(const Grouped1d2dProblem& problem);

/// What an omitted `config.stages` becomes.
int default_token_stages(const Grouped1d2dConfig& config);

}  // namespace sm100::host
