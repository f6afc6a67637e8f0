// SPDX-License-Identifier: Apache-2.0
/// The walk over the tiles of all groups: worker w of W computes the tiles w, w + W ..., counted through the groups
/// in their order.  A group without an expert or without tokens has no tiles.
///
/// How many tiles there are is known on the device only, from words in global memory.  Everybody who walks reads
/// the same words and comes to the same tiles.
#pragma once

#include "kernels/grouped_1d1d/group_params.h"
#include "kernels/grouped_1d1d/group_tile.h"
#include "kernels/matmul/cluster_share.h"
#include "kernels/scheduler/work_iterator.h"

namespace sm100 {

/// The groups of a launch, in the words of its layout.
/// @tparam Params  those of a matmul, with GroupParams `groups`
template <Isa I, class Config, class Params>
class GroupTable {
 public:
  SM100_HD GroupTable(I& isa, const Config& cfg, const Params& params) : isa_(isa), cfg_(cfg), params_(params) {}

  SM100_HD int groups() const { return params_.groups.groups; }

  SM100_KERNEL Group group(int g) const {
    const GroupParams& p = params_.groups;
    if (cfg_.layout == TokenLayout::masked) {
      const int first = g * p.slot_rows, tokens = word(p.counts, g);
      return {first, first + tokens, g * scale_groups(cfg_, p.slot_rows), g};
    }
    // All rows are one group; its tiles ask for their expert one by one.
    if (cfg_.layout == TokenLayout::contiguous) return {0, params_.m, 0, 0};
    const int first = word(p.offsets, g);
    const int end = word(p.offsets, g + 1);
    const int expert = word(p.experts, g);
    const int scale_offset = word(p.scale_offsets, g);
    return {first, end, first / rows_per_scale_group(cfg_) + scale_offset, expert};
  }
  /// contiguous: -1 between the groups.
  SM100_KERNEL int expert_of_row(int row) const { return word(params_.groups.experts, row); }

 private:
  SM100_KERNEL int word(GlobalAddr words, int i, Loc loc = Loc::current()) const {
    return int(isa_.ld_global_u32(words + 4 * uint64_t(i), loc));
  }
  I& isa_;
  const Config& cfg_;
  const Params& params_;
};

/// The walk of the executing warp's worker: its CTA, or its pair.
template <Isa I, class Config, class Params>
class GroupWalk {
 public:
  SM100_KERNEL GroupWalk(I& isa, const Config& cfg, const Params& params)
      : isa_(isa),
        cfg_(cfg),
        table_(isa, cfg, params),
        columns_(params.n),
        k_tiles_(ceil_div(params.k, block_k(cfg))),
        half_(own_place(isa, cfg).half),
        next_(int(isa.ctaid().x) / cfg.cta_group),
        workers_(int(isa.nctaid().x) / cfg.cta_group) {}

  SM100_KERNEL GroupTile first() { return fetch(); }
  SM100_KERNEL GroupTile fetch() {
    for (;; next_ += workers_) {
      if (!find_group()) return {};
      GroupTile tile = tile_of_group(next_ - tiles_before_);
      if (cfg_.layout == TokenLayout::contiguous) {
        // Both CTAs of a pair go by the pair's first row: they share the expert's weights.
        const int first_m = tile.m - (cfg_.ab_swapped ? 0 : half_);
        tile.group.expert = table_.expert_of_row(cfg_.ab_swapped ? tile.n * cfg_.mma_n : first_m * block_m(cfg_));
        if (tile.group.expert < 0) continue;
      }
      next_ += workers_;
      return tile;
    }
  }

 private:
  /// Tiles of the group along the MMA's M and N.
  SM100_HD int tiles_m() const {
    return ceil_div(cfg_.ab_swapped ? columns_ : group_.end_row - group_.first_row, cfg_.mma_m);
  }
  SM100_HD int tiles_n() const {
    return ceil_div(cfg_.ab_swapped ? group_.end_row - group_.first_row : columns_, cfg_.mma_n);
  }

  /// Goes on to the group that has the next tile; false: there is none.
  SM100_KERNEL bool find_group() {
    while (next_ >= tiles_before_ + tiles_) {
      if (++index_ >= table_.groups()) return false;
      tiles_before_ += tiles_;
      group_ = table_.group(index_);
      tiles_ = group_.has_work() ? tiles_m() * tiles_n() : 0;
    }
    return true;
  }

  /// Blocks of `block_swizzle` tiles along the fast direction, which are walked through in the slow one; 0: one
  /// block.
  SM100_KERNEL GroupTile tile_of_group(int i) const {
    const bool along_m = cfg_.raster_order == RasterOrder::along_m;
    const int fast = along_m ? tiles_m() : tiles_n(), slow = along_m ? tiles_n() : tiles_m();
    const int block = cfg_.block_swizzle > 0 ? cfg_.block_swizzle : fast;
    const int blocks = quotient(i, block * slow), first = blocks * block, in_block = i - blocks * block * slow;
    const int width = fast - first < block ? fast - first : block;
    const int s = quotient(in_block, width), f = first + in_block - s * width;
    return {{.m = (along_m ? f : s) * cfg_.cta_group + half_,
             .n = along_m ? s : f,
             .k_begin = 0,
             .k_count = k_tiles_,
             .valid = true},
            group_};
  }

  SM100_KERNEL int quotient(int a, int b) const { return int(isa_.div_u32(uint32_t(a), uint32_t(b))); }

  I& isa_;
  const Config& cfg_;
  GroupTable<I, Config, Params> table_;
  int columns_, k_tiles_, half_;
  int next_, workers_;                 ///< tile that comes next, of all groups
  int index_ = -1, tiles_before_ = 0;  ///< the group, and the tiles of those before it
  int tiles_ = 0;
  Group group_;
};

/// Every role walks for itself.
template <Isa I, class Config, class Params>
class ReplayedWalk {
 public:
  static constexpr bool kPublishes = false;

  SM100_HD ReplayedWalk(I& isa, const Config& cfg, const Params& params) : isa_(isa), cfg_(cfg), params_(params) {}

  class Walk {
   public:
    SM100_KERNEL explicit Walk(const GroupWalk<I, Config, Params>& walk) : walk_(walk) {}
    SM100_KERNEL GroupTile first() { return walk_.first(); }
    SM100_KERNEL GroupTile fetch(Loc) { return walk_.fetch(); }
    SM100_KERNEL void throttle_signal(Loc) {}

   private:
    GroupWalk<I, Config, Params> walk_;
  };
  SM100_KERNEL WorkIterator<Walk> work_iterator() {
    return WorkIterator<Walk>{Walk{GroupWalk<I, Config, Params>{isa_, cfg_, params_}}};
  }

 private:
  I& isa_;
  const Config& cfg_;
  const Params& params_;
};

}  // namespace sm100
