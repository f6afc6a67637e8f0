// SPDX-License-Identifier: Apache-2.0
/// Warps of a CTA that work together, and the named barrier at which they meet.
#pragma once

#include "kernels/isa/isa.h"

namespace sm100 {

/// Warps that read tensor memory come in fours and begin at a multiple of four: a warp's place in the group is then
/// the quarter of the lanes that it may access (PTX 9.7.16.8).
struct WarpGroup {
  int first_warp, warps;
  int barrier;  ///< named barrier, all of the group's threads

  SM100_HD constexpr int threads() const { return warps * kWarpLanes; }
  SM100_HD constexpr bool has(int warp) const {
    return (first_warp == 0 || warp >= first_warp) && warp < first_warp + warps;
  }
  /// The same warps at another named barrier.
  SM100_HD constexpr WarpGroup at_barrier(int id) const { return {first_warp, warps, id}; }

  /// The executing warp's place: 0 ... warps - 1.
  template <Isa I>
  SM100_KERNEL int index(I& isa) const {
    return isa.warpid() - first_warp;
  }
  template <Isa I>
  SM100_KERNEL bool is_first(I& isa) const {
    return index(isa) == 0;
  }
  template <Isa I>
  SM100_KERNEL void sync(I& isa, Loc loc = Loc::current()) const {
    isa.bar_sync(barrier, threads(), loc);
  }
};

}  // namespace sm100
