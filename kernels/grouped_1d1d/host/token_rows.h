// SPDX-License-Identifier: Apache-2.0
/// Where the tokens of each group lie in A, C and the scales of A.
#pragma once

#include "kernels/grouped_1d1d/host/grouped_1d1d_problem.h"

namespace sm100::host {

struct TokenGroup {
  int first_row = 0, rows = 0;  ///< of A and C
  int first_scale_row = 0;      ///< with what pads the scales of the groups before
  int expert = -1;
  int reserved_rows = 0;  ///< with the padding behind its tokens

  bool has_work() const { return expert >= 0 && rows > 0; }
};

struct TokenRows {
  std::vector<TokenGroup> groups;
  int64_t rows = 0;        ///< of A and C
  int64_t scale_rows = 0;  ///< with what pads the scales of each group
};

/// @param scale_granule  the scales of each group take a multiple of so many rows
TokenRows token_rows(const TokenProblem& problem, TokenLayout layout, int scale_granule);
inline TokenRows token_rows(const Grouped1d1dProblem& problem) {
  return token_rows(problem, problem.config.layout, scale_granule_rows(problem.config));
}

/// MMA tiles of all groups that the walk counts.
/// @param tile_tokens, tile_columns  rows of tokens and columns of C in a tile
int64_t group_tiles(const TokenProblem& problem, TokenLayout layout, int tile_tokens, int tile_columns);
template <class Config>
int64_t group_tiles(const TokenProblem& problem, const Config& config) {
  return group_tiles(problem, config.layout, token_rows(config), expert_rows(config));
}

}  // namespace sm100::host
