// SPDX-License-Identifier: Apache-2.0
/// Where a tile's strips come from: the accumulator of the output ring here; a kernel that sums in registers brings
/// its own.
#pragma once

#include "kernels/epilogue/tmem_reader.h"
#include "kernels/pipeline/output_ring.h"

namespace sm100 {

/// Strips of an accumulator in tensor memory, which is released after the last one has been loaded.
template <Isa I>
class AccumulatorStrips {
 public:
  SM100_HD AccumulatorStrips(I& isa, OutputRing<I>& ring, const AccumulatorStage& result)
      : isa_(isa), ring_(ring), result_(result) {}

  /// Calls write(i) for each strip.
  template <class Write>
  SM100_KERNEL void for_each(int strips, Write&& write) {
    for (int i = 0; i < strips; ++i) write(i);
  }
  /// A warp's part of strip i, of 8 R columns.
  template <int R>
  SM100_KERNEL AccumulatorFragments<R> load(int i, int warp, bool lower, Loc loc = Loc::current()) {
    return load_fragments<R>(isa_, result_.accumulator.plus_columns(uint32_t(i * 8 * R)), warp, lower, loc);
  }
  /// All strips have been loaded.
  SM100_KERNEL void release(Loc loc = Loc::current()) { ring_.consumer_release(result_, loc); }

 private:
  I& isa_;
  OutputRing<I>& ring_;
  const AccumulatorStage& result_;
};

/// The strip at a place of the walk: a source may have an order of its own.
template <class Source>
SM100_HD constexpr int strip_at(const Source& source, int place) {
  if constexpr (requires { source.strip_at(place); })
    return source.strip_at(place);
  else
    return place;
}

}  // namespace sm100
