// SPDX-License-Identifier: Apache-2.0
/// Persistent static scheduler: cluster w of the W that were launched computes the tiles w, w + W ... of the grid.
///
/// Every warp counts for itself, so nothing has to be communicated.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/scheduler/tile_grid.h"
#include "kernels/scheduler/work_iterator.h"

namespace sm100 {

template <Isa I>
class StaticScheduler {
 public:
  static constexpr bool kRequests = false;

  SM100_HD StaticScheduler(I& isa, const TileGrid& grid) : isa_(isa), grid_(grid) {}

  class Walk {
   public:
    SM100_KERNEL explicit Walk(StaticScheduler& scheduler) : scheduler_(scheduler), cluster_(scheduler.first()) {}

    SM100_KERNEL WorkTile first() { return scheduler_.tile(scheduler_.first()); }
    SM100_KERNEL WorkTile fetch(Loc) {
      cluster_ += scheduler_.stride();
      return scheduler_.tile(cluster_);
    }
    SM100_KERNEL void throttle_signal(Loc) {}

   private:
    StaticScheduler& scheduler_;
    uint32_t cluster_;
  };
  SM100_KERNEL WorkIterator<Walk> work_iterator() { return WorkIterator<Walk>{Walk{*this}}; }

 private:
  /// Clusters lie along x, so the first one's index and their number follow from the launch.
  SM100_KERNEL uint32_t first() { return isa_.ctaid().x / uint32_t(grid_.cluster_m); }
  SM100_KERNEL uint32_t stride() { return isa_.nctaid().x / uint32_t(grid_.cluster_m); }
  SM100_KERNEL WorkTile tile(uint32_t cluster) {
    const Dim3 grid = grid_.clusters;
    const bool valid = cluster < grid.x * grid.y * grid.z;
    const uint32_t row = isa_.div_u32(cluster, grid.x), z = isa_.div_u32(row, grid.y);
    const Dim3 first_cta{(cluster - row * grid.x) * uint32_t(grid_.cluster_m),
                         (row - z * grid.y) * uint32_t(grid_.cluster_n), z};
    return grid_.tile_of(isa_, grid_.cta_of(first_cta, isa_.cluster_ctarank()), valid);
  }

  I& isa_;
  TileGrid grid_;
};

}  // namespace sm100
