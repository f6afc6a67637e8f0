// SPDX-License-Identifier: Apache-2.0
/// Persistent scheduler over the tiles of many products: cluster w of the W that were launched computes the tiles
/// w, w + W ... of all groups' tiles, one group after the other.
///
/// A tile is that of an MMA: a pair's two CTAs walk over the same tiles, each with its half of the rows.  Every
/// warp replays the walk from the table of problems, so nothing has to be communicated, and groups without rows
/// have no tiles.
#pragma once

#include "kernels/grouped_block_scaled/config.h"
#include "kernels/grouped_block_scaled/params.h"
#include "kernels/isa/isa.h"
#include "kernels/scheduler/work_iterator.h"

namespace sm100 {

/// m, n and k of a group.
template <Isa I>
SM100_KERNEL GroupProblem load_problem(I& isa, GlobalAddr problems, int group, Loc loc = Loc::current()) {
  const UniformWords<4> row = isa.ld_global_nc_v4(problems + uint64_t(group) * kProblemRowBytes, loc);
  return {int(row.w[0]), int(row.w[1]), int(row.w[2])};
}

/// Tiles of a problem, along M first.
struct GroupTiles {
  int along_m = 0, along_n = 0, k_tiles = 0;

  SM100_HD constexpr int count() const { return along_m * along_n; }
};

template <class C>
SM100_HD constexpr GroupTiles group_tiles(const C& c, const GroupProblem& p) {
  return {ceil_div(p.m, c.mma_m), ceil_div(p.n, c.mma_n), ceil_div(p.k, block_k(c))};
}

template <Isa I, class Config>
class GroupScheduler {
 public:
  static constexpr bool kRequests = false;

  SM100_HD GroupScheduler(I& isa, const Config& cfg, GlobalAddr problems, int groups)
      : isa_(isa), cfg_(cfg), problems_(problems), groups_(groups) {}

  class Walk {
   public:
    SM100_KERNEL explicit Walk(GroupScheduler& scheduler)
        : scheduler_(scheduler), index_(int(scheduler.isa_.ctaid().x) / scheduler.cfg_.cluster_m) {}

    SM100_KERNEL WorkTile first(Loc loc = Loc::current()) { return tile(loc); }
    SM100_KERNEL WorkTile fetch(Loc loc) {
      index_ += int(scheduler_.isa_.nctaid().x) / scheduler_.cfg_.cluster_m;
      return tile(loc);
    }
    SM100_KERNEL void throttle_signal(Loc) {}

   private:
    /// Goes on to the group that has the tile of index_.
    SM100_KERNEL WorkTile tile(Loc loc) {
      const auto& cfg = scheduler_.cfg_;
      while (index_ >= first_ + tiles_.count()) {
        first_ += tiles_.count();
        if (++group_ >= scheduler_.groups_) {
          tiles_ = {};
          return {};
        }
        tiles_ = group_tiles(cfg, load_problem(scheduler_.isa_, scheduler_.problems_, group_, loc));
      }
      const int local = index_ - first_;
      const int half = int(scheduler_.isa_.cluster_ctarank()) % cfg.cta_group;
      const int n = int(scheduler_.isa_.div_u32(uint32_t(local), uint32_t(tiles_.along_m)));
      return {.m = (local - n * tiles_.along_m) * cfg.cta_group + half,
              .n = n,
              .k_begin = 0,
              .k_count = tiles_.k_tiles,
              .group = group_,
              .valid = true};
    }

    GroupScheduler& scheduler_;
    int index_;                   ///< among the tiles of all groups
    int group_ = -1, first_ = 0;  ///< the group that the walk has come to, and its first tile
    GroupTiles tiles_{};
  };
  SM100_KERNEL WorkIterator<Walk> work_iterator() { return WorkIterator<Walk>{Walk{*this}}; }

 private:
  I& isa_;
  const Config& cfg_;
  GlobalAddr problems_;
  int groups_;
};

}  // namespace sm100
