// SPDX-License-Identifier: Apache-2.0
/// Findings as SARIF 2.1.0, for tools that annotate sources in a review.
#pragma once

#include <string>
#include <vector>

#include "sim/cli/json_output.h"
#include "sim/run_result.h"

namespace sm100::sim::cli {

class Sarif {
 public:
  /// A finding or a warning of a run.  `where` names the run in the message: "launch 3: gemm".
  void add(const Finding& finding, bool warning, const std::string& where);
  /// Anything else that has failed: "exec", and a sentence.
  void add_failure(const std::string& rule, const std::string& message);

  /// The document.  Every rule that a result names is described in it.
  Json document(const std::vector<std::string>& command, int exit_code) const;

 private:
  void add_rule(const std::string& id, bool warning);

  Json rules_ = Json::array(), results_ = Json::array();
};

}  // namespace sm100::sim::cli
