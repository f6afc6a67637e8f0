// SPDX-License-Identifier: Apache-2.0
/// From a CTA id of the launched grid to the tile it computes: raster order and block swizzle for L2
/// locality.
///
/// The hardware launches and cancels x-fastest, so AlongM walks down M first.  The mapping is a bijection of
/// the cluster grid for every size, order and swizzle width (tests/kernels/scheduler).
#pragma once

#include "kernels/isa/address.h"
#include "kernels/isa/arithmetic.h"

namespace sm100 {

enum class RasterOrder : uint8_t { along_n = 0, along_m = 1 };

struct TileCoord {
  int m = 0, n = 0;
};

/// @param ctaid       CTA id; x is along M, y along N
/// @param cluster_grid  number of clusters along x and y
/// @param order       which tile index advances first
/// @param width       block swizzle W: 0 (off), 1, 2, 4 or 8
/// @param cluster_m, cluster_n  cluster extent; the CTA keeps its position inside the cluster
/// @param divide      by a number that is not known when the kernel is compiled: role code's `div_u32`
template <class Divide = PlainDivision>
SM100_HD constexpr TileCoord rasterize(Dim3 ctaid, Dim3 cluster_grid, RasterOrder order, int width, int cluster_m,
                                       int cluster_n, Divide&& divide = {}) {
  const int dm = int(cluster_grid.x), dn = int(cluster_grid.y);
  const int a = int(ctaid.x) / cluster_m, b = int(ctaid.y) / cluster_n;
  int u = a, v = b;
  if (order == RasterOrder::along_n) {
    const int linear = a * dn + b;
    v = int(divide(uint32_t(linear), uint32_t(dm)));
    u = linear - v * dm;
  }
  if (width > 0) {
    const int sm = dm / width, sn = dn / width;  // whole strips; the rest stays where it is
    if (u < sm * width && v < sn * width) {
      int us = u / width + sm * (v % width);
      if ((v / width) % 2 == 1) us = sm * width - 1 - us;  // serpentine
      const int vs = u % width + width * (v / width);
      u = us;
      v = vs;
    }
  }
  return {u * cluster_m + int(ctaid.x) % cluster_m, v * cluster_n + int(ctaid.y) % cluster_n};
}

}  // namespace sm100
