// SPDX-License-Identifier: Apache-2.0
/// How TMA fills the tiles of the direct kernel: a copy per tile, from a tensor map that sees the matrix in slabs,
/// or a copy per slab (kernels/pipeline/smem_tile.h says what a slab is).
#pragma once

#include "kernels/direct/config.h"
#include "kernels/isa/isa.h"

namespace sm100 {

/// Copies of one operand of a stage; one lane.
/// @param row, k  of the tile's first element in the matrix
template <Isa I, class Config>
SM100_KERNEL void load_slabs(I& isa, const Config& cfg, const SmemTile& tile, const TensorMap* map, int row, int k,
                             SmemAddr barrier, Loc loc = Loc::current()) {
  const int columns = tile.shape.slab_columns();
  if (cfg.tma_rank == 3) {
    isa.cp_async_bulk_tensor_shared_global(tile.base, map, TensorCoords{0, row, k / columns}, barrier,
                                           cfg.cta_group, loc);
  } else {
    for (int i = 0; i < tile.shape.slabs(); ++i)
      isa.cp_async_bulk_tensor_shared_global(tile.slab(i).base, map, TensorCoords{k + i * columns, row}, barrier,
                                             cfg.cta_group, loc);
  }
}

}  // namespace sm100
