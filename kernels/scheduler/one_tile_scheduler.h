// SPDX-License-Identifier: Apache-2.0
/// No scheduler: every CTA computes the tile of its block index, and the hardware launches the whole grid.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/scheduler/tile_grid.h"
#include "kernels/scheduler/work_iterator.h"

namespace sm100 {

template <Isa I>
class OneTileScheduler {
 public:
  static constexpr bool kRequests = false;

  SM100_HD OneTileScheduler(I& isa, const TileGrid& grid) : isa_(isa), grid_(grid) {}

  class Walk {
   public:
    SM100_HD explicit Walk(const OneTileScheduler& scheduler) : scheduler_(scheduler) {}

    SM100_KERNEL WorkTile first() {
      return scheduler_.grid_.tile_of(scheduler_.isa_, scheduler_.isa_.ctaid(), true);
    }
    SM100_KERNEL WorkTile fetch(Loc) { return {}; }
    SM100_KERNEL void throttle_signal(Loc) {}

   private:
    const OneTileScheduler& scheduler_;
  };
  SM100_KERNEL WorkIterator<Walk> work_iterator() { return WorkIterator<Walk>{Walk{*this}}; }

 private:
  I& isa_;
  TileGrid grid_;
};

}  // namespace sm100
