// SPDX-License-Identifier: Apache-2.0
/// Rules for legal configurations of the grouped 1D-1D matmul on a problem.
#pragma once

#include "kernels/grouped_1d1d/host/grouped_1d1d_problem.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

/// Every rule that is broken.  Of the problem alone where that is wrong: nothing else can be said then.
std::vector<RuleViolation> check_grouped_1d1d(const Grouped1d1dProblem& problem);

/// What an omitted `config.stages` becomes.
int default_grouped_stages(const Grouped1d1dConfig& config);

/// Legal, but hardly meant.
std::vector<ConfigWarning> grouped_1d1d_warnings(const Grouped1d1dProblem& problem);

}  // namespace sm100::host
