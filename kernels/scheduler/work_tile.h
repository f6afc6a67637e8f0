// SPDX-License-Identifier: Apache-2.0
/// One unit of work and its place in the output: tile (m, n) and a range of k tiles.
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

struct WorkTile {
  int m = 0, n = 0;              ///< in CTA tiles (m) and MMA tiles (n)
  int k_begin = 0, k_count = 0;  ///< k tiles
  int group = 0;                 ///< of kernels that multiply several problems: which
  bool last_split = true;        ///< the range ends with the tile's last k tile
  bool valid = false;

  SM100_HD constexpr int k_end() const { return k_begin + k_count; }
};

/// A loader that has something to do before a tile's first stage, by the whole warp.
template <class T, class I>
concept TileStarter = requires(T& loader, I& isa, const WorkTile& tile, Loc loc) {
  loader.begin_tile(isa, tile, loc);
};

/// The tile, which the loader begins if it has something to do.
template <class I, class Loader, class Tile>
SM100_KERNEL const Tile& begun(I& isa, Loader& loader, const Tile& tile, Loc loc = Loc::current()) {
  if constexpr (TileStarter<Loader, I>) loader.begin_tile(isa, tile, loc);
  return tile;
}

}  // namespace sm100
