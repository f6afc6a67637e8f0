// SPDX-License-Identifier: Apache-2.0
/// Where the tokens of each group lie in A, C and the scales of A.
#pragma once

#include "kernels/grouped_1d1d/host/grouped_1d1d_problem.h"

namespace sm100::host {

struct TokenGroup {
  int first_row = 0, rows = 0;  ///< of A and C
  int first_scale_row = 0;      ///< each group's scales begin with an atom of their own
  int expert = -1;
  int reserved_rows = 0;  ///< with the padding behind its tokens

  bool has_work() const { return expert >= 0 && rows > 0; }
};

struct TokenRows {
  std::vector<TokenGroup> groups;
  int64_t rows = 0;        ///< of A and C
  int64_t scale_rows = 0;  ///< whole atoms
};

TokenRows token_rows(const Grouped1d1dProblem& problem);

/// MMA tiles of all groups that the walk counts.
int64_t group_tiles(const Grouped1d1dProblem& problem, const Grouped1d1dConfig& config);

}  // namespace sm100::host
