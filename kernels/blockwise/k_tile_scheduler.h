// SPDX-License-Identifier: Apache-2.0
/// A scheduler that hands out another's work tiles one k tile at a time, for an MMA warp whose accumulators each
/// hold the product of one.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

template <class Scheduler>
class KTileScheduler {
 public:
  SM100_HD explicit KTileScheduler(Scheduler& scheduler) : scheduler_(scheduler) {}

  template <class Tiles>
  class Iterator {
   public:
    SM100_KERNEL explicit Iterator(const Tiles& tiles) : tiles_(tiles) { begin_tile(); }

    SM100_HD bool has_work() const { return current_.valid; }
    SM100_HD const WorkTile& current() const { return current_; }

    /// Fetches the next tile of the output now, with the first k tile of this one.
    SM100_KERNEL void prefetch(Loc loc = Loc::current()) {
      if (current_.k_begin == tiles_.current().k_begin) tiles_.prefetch(loc);
    }
    SM100_KERNEL void next(Loc loc = Loc::current()) {
      if (++current_.k_begin < tiles_.current().k_end()) return;
      tiles_.next(loc);
      begin_tile();
    }

   private:
    SM100_HD void begin_tile() {
      current_ = tiles_.current();
      current_.k_count = 1;
    }

    Tiles tiles_;
    WorkTile current_;
  };
  SM100_KERNEL auto work_iterator() {
    return Iterator<decltype(scheduler_.work_iterator())>{scheduler_.work_iterator()};
  }

 private:
  Scheduler& scheduler_;
};

}  // namespace sm100
