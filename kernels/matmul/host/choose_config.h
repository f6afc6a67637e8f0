// SPDX-License-Identifier: Apache-2.0
/// Picks a configuration of the dense matmul for a shape: what `config = "auto"` means (docs/choose.md).
///
/// A pure function of shape, types and number of SMs.  The search is over MMA shapes: fewest waves, then the
/// smallest tile; everything else follows from the shape that won.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/matmul/config.h"
#include "kernels/matmul/host/config_rules.h"

namespace sm100::host {

struct ConfigRequest {
  int m = 0, n = 0, k = 0;
  DataType dtype = DataType::bf16;   ///< A and B
  DataType output = DataType::bf16;  ///< C
  int sms = 0;                       ///< of the device or, where fewer take part, of the run; at least 1
};

/// An MMA shape that the search looked at.
struct ConfigCandidate {
  bool ab_swapped = false;
  int cta_group = 1;
  int mma_m = 0, mma_n = 0;
  int64_t tiles = 0;   ///< MMA tiles that cover C, the last of a row or column perhaps in part
  int64_t waves = 0;   ///< rounds in which sms / cta_group tiles run at a time
  int block_size = 0;  ///< elements of C in the tile of one CTA, mma_m / cta_group * mma_n
  std::string broken;  ///< why the kernel cannot run it, if it was tried; empty otherwise
};

/// One value of the configuration and why.
struct ConfigDecision {
  std::string key;     ///< as in a scenario's [config]
  std::string value;   ///< as TOML
  std::string reason;  ///< one line with the figures
};

struct ConfigChoice {
  MatmulConfig config;
  std::vector<ConfigCandidate> candidates;  ///< best first; those before `chosen` broke a rule
  size_t chosen = 0;                        ///< index in candidates
  std::vector<ConfigDecision> decisions;
  /// Not empty: no configuration fits the shape (problem.n, problem.k, ...), and nothing above is set.
  std::vector<RuleViolation> broken;
};

/// The best configuration that check_config accepts.
/// @param swap  consider swapped operands too (C^T = B A^T: small M becomes the MMA's N)
/// Throws std::invalid_argument without SMs, std::logic_error if no candidate is legal for a legal shape.
ConfigChoice choose_config(const ConfigRequest& request, bool swap = true);

/// The configuration as a line of a scenario: `config = { mma = [256, 176, 16], cta_group = 2, ... }`.
std::string config_toml(const ConfigChoice& choice);

}  // namespace sm100::host
