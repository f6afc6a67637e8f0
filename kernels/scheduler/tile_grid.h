// SPDX-License-Identifier: Apache-2.0
/// The work of a launch: the tiles of the output, in clusters, and the k tiles of each; what every scheduler must
/// know.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/scheduler/rasterization.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

struct TileGrid {
  Dim3 clusters;                     ///< of tiles along M and N, and splits of K; launched or not
  int cluster_m = 1, cluster_n = 1;  ///< tiles of a cluster
  RasterOrder raster_order = RasterOrder::along_m;
  int block_swizzle = 0;
  int k_tiles = 0;
  int k_tiles_per_split = 0;  ///< split-K: z = s begins at k tile s * k_tiles_per_split

  SM100_HD constexpr int cluster_size() const { return cluster_m * cluster_n; }

  /// The tile of a CTA of the whole grid.
  template <Isa I>
  SM100_KERNEL WorkTile tile_of(I& isa, Dim3 ctaid, bool valid) const {
    const TileCoord t = rasterize(ctaid, clusters, raster_order, block_swizzle, cluster_m, cluster_n,
                                  [&](uint32_t a, uint32_t b) { return isa.div_u32(a, b); });
    const int begin = int(ctaid.z) * k_tiles_per_split, left = k_tiles - begin;
    const bool last = left <= k_tiles_per_split;
    return {.m = t.m,
            .n = t.n,
            .k_begin = begin,
            .k_count = last ? left : k_tiles_per_split,
            .last_split = last,
            .valid = valid};
  }
  /// From a cluster's first CTA to the one of `rank`.
  SM100_KERNEL Dim3 cta_of(Dim3 first, uint32_t rank) const {
    return {first.x + rank % uint32_t(cluster_m), first.y + rank / uint32_t(cluster_m), first.z};
  }
};

}  // namespace sm100
