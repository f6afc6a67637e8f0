// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/token_rows.h"

#include <cstddef>

#include "kernels/isa/arithmetic.h"

namespace sm100::host {
namespace {

/// Rows of A that a group takes, with what lies behind its tokens.
int64_t reserved(const Grouped1d1dProblem& p, int tokens) {
  switch (p.config.layout) {
    case TokenLayout::masked: return p.slot_rows;
    case TokenLayout::contiguous: return (int64_t{tokens} + p.alignment - 1) / p.alignment * p.alignment;
    default: return tokens;
  }
}

int64_t whole_atoms(int64_t rows) { return (rows + kScaleAtomRows - 1) / kScaleAtomRows * kScaleAtomRows; }

int64_t tiles_of(int64_t rows, const Grouped1d1dProblem& p, const Grouped1d1dConfig& c) {
  return (rows + token_rows(c) - 1) / token_rows(c) * ceil_div(p.n, expert_rows(c));
}

}  // namespace

TokenRows token_rows(const Grouped1d1dProblem& p) {
  TokenRows all;
  for (size_t g = 0; g < p.tokens.size(); ++g) {
    const int64_t rows = reserved(p, p.tokens[g]);
    all.groups.push_back({.first_row = int(all.rows),
                          .rows = p.tokens[g],
                          .first_scale_row = int(all.scale_rows),
                          .expert = p.experts[g],
                          .reserved_rows = int(rows)});
    all.rows += rows;
    all.scale_rows += whole_atoms(rows);
  }
  return all;
}

int64_t group_tiles(const Grouped1d1dProblem& p, const Grouped1d1dConfig& c) {
  const TokenRows rows = token_rows(p);
  if (c.layout == TokenLayout::contiguous) return tiles_of(rows.rows, p, c);
  int64_t tiles = 0;
  for (const TokenGroup& group : rows.groups)
    if (group.has_work()) tiles += tiles_of(group.rows, p, c);
  return tiles;
}

}  // namespace sm100::host
