// SPDX-License-Identifier: Apache-2.0
/// What the MMAs of a stage work on beside the stage's tiles.
#pragma once

#include "kernels/isa/address.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

struct MmaWork {
  const WorkTile& tile;  ///< of the output
  TmemAddr tmem;         ///< the columns that the kernel has allocated
  TmemAddr accumulator;  ///< the tile's, among them
};

}  // namespace sm100
