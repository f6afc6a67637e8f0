// SPDX-License-Identifier: Apache-2.0
/// What the MMAs of a stage work on beside the stage's tiles.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

struct MmaWork {
  const WorkTile& tile;  ///< of the output
  TmemAddr tmem;         ///< the columns that the kernel has allocated
  TmemAddr accumulator;  ///< the tile's, among them
};

/// The stage for a tile's accumulator, once it may be overwritten.  What an issuer can issue on the tile's first
/// stage without an accumulator comes before that wait.
template <Isa I, class Output, class Input, class Issuer>
SM100_KERNEL auto acquire_accumulator(I& isa, Output& output, Input& input, const Issuer& mma, TmemAddr tmem,
                                      Loc loc = Loc::current()) {
  if constexpr (requires { mma.begins_early(); }) {
    if (mma.begins_early()) {
      const auto stage = input.consumer_wait(loc);
      isa.elected([&] { mma.begin(isa, stage, tmem); });
    }
  }
  return output.producer_acquire(loc);
}

}  // namespace sm100
