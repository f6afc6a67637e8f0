// SPDX-License-Identifier: Apache-2.0
/// One epilogue warp's part of an accumulator strip, from tensor memory to registers.
///
/// Warp w of its group reads the lanes 32w ... 32w+31 that it may access, with 16x256b loads (PTX 9.7.16.8): a
/// fragment is rows 0-15 of its quarter, another rows 16-31.  M = 64 accumulators (data-path layout F) hold nothing
/// in the second.
#pragma once

#include "kernels/isa/isa.h"

namespace sm100 {

/// R repetitions of 8 columns; 4 registers per repetition: columns 2(t%4)+{0,1} of row t/4, then of row t/4
/// + 8.
template <int R>
struct AccumulatorFragments {
  LaneArray<uint32_t, 4 * R> upper;
  LaneArray<uint32_t, 4 * R> lower;

  /// f(registers, first row) for each fragment; rows from the first one of the warp's part.
  /// @param both  the second fragment holds rows too
  template <class F>
  SM100_KERNEL void walk(bool both, F&& f) {
    f(upper, 0);
    if (both) f(lower, 16);
  }
};

/// Loads and waits.
/// @param strip  column address of the strip (lane 0)
/// @param warp   place of the warp in its group
template <int R, Isa I>
SM100_KERNEL AccumulatorFragments<R> load_fragments(I& isa, TmemAddr strip, int warp, bool lower,
                                                    Loc loc = Loc::current()) {
  TraceSpan span{isa, TraceEvent::tmem_load};
  const TmemAddr base = strip.plus_lanes(32u * uint32_t(warp));
  AccumulatorFragments<R> f;
  f.upper = isa.template tcgen05_ld_16x256b<R>(base, loc);
  if (lower) f.lower = isa.template tcgen05_ld_16x256b<R>(base.plus_lanes(16), loc);
  // Before the first use of the registers, in every strip.
  if (lower)
    isa.tcgen05_wait_ld(f.upper, f.lower, loc);
  else
    isa.tcgen05_wait_ld(f.upper, loc);
  return f;
}

}  // namespace sm100
