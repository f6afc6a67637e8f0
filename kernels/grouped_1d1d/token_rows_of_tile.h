// SPDX-License-Identifier: Apache-2.0
/// What an epilogue must know of a group's tile: which rows of C it stores, and its expert's factor.
#pragma once

#include "kernels/epilogue/element_functor.h"
#include "kernels/grouped_1d1d/group_walk.h"

namespace sm100 {

/// One behind the last of the tile's rows `first` ... `first + rows - 1` that are the group's.
template <Isa I, class Config, class Params>
SM100_KERNEL int end_of_rows(I& isa, const Config& cfg, const Params& params, const GroupTile& tile, int first,
                             int rows) {
  const int end = first + rows < tile.group.end_row ? first + rows : tile.group.end_row;
  if (cfg.layout != TokenLayout::contiguous || end <= first) return end;
  // The group's rows, then padding up to its alignment: the first row that names no expert.
  const GroupTable<I, Config, Params> table{isa, cfg, params};
  if (table.expert_of_row(end - 1) == tile.group.expert) return end;
  int low = first, high = end - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (table.expert_of_row(middle) == tile.group.expert)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct TokenRowsOfTile {
  int first, rows;  ///< of this CTA's part of the tile
  int end;          ///< one behind the last that it stores
  FunctorParams functor;

  SM100_HD constexpr bool whole() const { return end == first + rows; }
};

template <Isa I, class Config, class Params>
SM100_KERNEL TokenRowsOfTile rows_of_tile(I& isa, const Config& cfg, const Params& params, const GroupTile& tile) {
  const int first = tile.first_token(cfg), rows = cfg.ab_swapped ? cfg.mma_n : block_m(cfg);
  TokenRowsOfTile t{first, rows, first + rows, params.functor};
  if (!cfg.whole_tiles) t.end = end_of_rows(isa, cfg, params, tile, first, rows);
  if (cfg.scaled)
    t.functor.alpha = as_float(isa.ld_global_u32(params.groups.expert_scales + 4 * uint64_t(tile.group.expert)));
  return t;
}

}  // namespace sm100
