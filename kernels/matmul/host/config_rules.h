// SPDX-License-Identifier: Apache-2.0
/// What a configuration of the dense matmul kernel and its problem must satisfy.
#pragma once

#include <string>
#include <vector>

#include "kernels/matmul/config.h"

namespace sm100::host {

/// One broken rule, in terms of the scenario's keys.
struct RuleViolation {
  std::string key;      ///< "config.stages"
  std::string value;    ///< the value the rule looked at, also when it is a default
  std::string allowed;  ///< "1 to 6"
  std::string why;      ///< a few words
};

/// Every rule that is broken, the most basic first; one that builds on a broken one is not judged.  Empty: the
/// kernel can run.
std::vector<RuleViolation> check_config(const MatmulConfig& config, int m, int n, int k);

/// Something legal that is hardly meant.
struct ConfigWarning {
  std::string key, value;  ///< as in RuleViolation
  std::string text;        ///< what, and why it may surprise
};

/// Of a configuration that breaks no rule.
std::vector<ConfigWarning> config_warnings(const MatmulConfig& config);

/// Largest stage count whose shared storage fits (0: none); what an omitted `config.stages` becomes.
int fitting_stages(const MatmulConfig& config);

}  // namespace sm100::host
