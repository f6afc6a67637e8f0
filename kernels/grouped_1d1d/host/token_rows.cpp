// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/token_rows.h"

#include <cstddef>

#include "kernels/isa/arithmetic.h"

namespace sm100::host {
namespace {

/// Rows of A that a group takes, with what lies behind its tokens.
int64_t reserved(const TokenProblem& p, TokenLayout layout, int tokens) {
  switch (layout) {
    case TokenLayout::masked: return p.slot_rows;
    case TokenLayout::contiguous: return (int64_t{tokens} + p.alignment - 1) / p.alignment * p.alignment;
    default: return tokens;
  }
}

}  // namespace

TokenRows token_rows(const TokenProblem& p, TokenLayout layout, int scale_granule) {
  TokenRows all;
  for (size_t g = 0; g < p.tokens.size(); ++g) {
    const int64_t rows = reserved(p, layout, p.tokens[g]);
    all.groups.push_back({.first_row = int(all.rows),
                          .rows = p.tokens[g],
                          .first_scale_row = int(all.scale_rows),
                          .expert = p.experts[g],
                          .reserved_rows = int(rows)});
    all.rows += rows;
    all.scale_rows += (rows + scale_granule - 1) / scale_granule * scale_granule;
  }
  return all;
}

int64_t group_tiles(const TokenProblem& p, TokenLayout layout, int tile_tokens, int tile_columns) {
  const auto tiles_of = [&](int64_t rows) {
    return (rows + tile_tokens - 1) / tile_tokens * ceil_div(p.n, tile_columns);
  };
  const TokenRows rows = token_rows(p, layout, 1);
  if (layout == TokenLayout::contiguous) return tiles_of(rows.rows);
  int64_t tiles = 0;
  for (const TokenGroup& group : rows.groups)
    if (group.has_work()) tiles += tiles_of(group.rows);
  return tiles;
}

}  // namespace sm100::host
