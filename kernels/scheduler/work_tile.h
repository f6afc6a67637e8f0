// SPDX-License-Identifier: Apache-2.0
/// One unit of work and its place in the output: tile (m, n) and a range of k tiles.
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

struct WorkTile {
  int m = 0, n = 0;              ///< in CTA tiles (m) and MMA tiles (n)
  int k_begin = 0, k_count = 0;  ///< k tiles
  bool last_split = true;        ///< the range ends with the tile's last k tile
  bool valid = false;

  SM100_HD constexpr int k_end() const { return k_begin + k_count; }
};

}  // namespace sm100
