// SPDX-License-Identifier: Apache-2.0
/// The walk of a static scheduler over a grid of tiles without clusters: worker w of W computes the tiles w, w + W,
/// w + 2 W ... of the grid.
///
/// Every warp replays the same walk, so nothing has to be communicated.  A worker is a CTA, or a cluster whose
/// CTAs share their tiles.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/scheduler/rasterization.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

/// The tiles of the output and the k tiles of each.
struct StaticGrid {
  int tiles_m = 0, tiles_n = 0;
  int k_tiles = 0;
};

/// The walk of one worker:
///
///   for (StaticWorkIterator work{isa, ...}; work.has_work(); work.next()) { ... work.current() ... }
template <Isa I>
class StaticWorkIterator {
 public:
  /// @param worker, workers  this worker and how many there are
  SM100_KERNEL StaticWorkIterator(I& isa, const StaticGrid& grid, RasterOrder order, int worker, int workers)
      : isa_(isa), grid_(grid), order_(order), index_(worker), workers_(workers), current_(tile()) {}

  SM100_HD bool has_work() const { return current_.valid; }
  SM100_HD const WorkTile& current() const { return current_; }
  SM100_KERNEL void next() {
    index_ += workers_;
    current_ = tile();
  }

 private:
  SM100_KERNEL WorkTile tile() const {
    if (index_ >= grid_.tiles_m * grid_.tiles_n) return {};
    const bool along_m = order_ == RasterOrder::along_m;
    const int fast = along_m ? grid_.tiles_m : grid_.tiles_n;
    const int s = int(isa_.div_u32(uint32_t(index_), uint32_t(fast))), f = index_ - s * fast;
    return {.m = along_m ? f : s, .n = along_m ? s : f, .k_begin = 0, .k_count = grid_.k_tiles, .valid = true};
  }

  I& isa_;
  StaticGrid grid_;
  RasterOrder order_;
  int index_, workers_;
  WorkTile current_;
};

}  // namespace sm100
