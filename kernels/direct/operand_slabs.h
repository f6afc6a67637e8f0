// SPDX-License-Identifier: Apache-2.0
/// Operand tiles of the direct kernel in shared memory: how TMA fills them and what the tensor core's descriptors
/// say.
///
/// Both layouts are K-major slabs, one after the other (config.h).  Swizzled, a slab is 128 bytes of K for every
/// row, groups of 8 rows 1024 bytes apart, and the four MMAs of a slab step 32 bytes inside its rows.  Without
/// swizzle it is one column of core matrices, 8 rows x 16 bytes each: the stride byte offset (128) leads to the
/// next 8 rows and the leading byte offset (the slab) to the next 16 bytes of K, of which an MMA reads two
/// (PTX 9.7.16, canonical layouts).
#pragma once

#include "kernels/direct/config.h"
#include "kernels/isa/isa.h"

namespace sm100 {

template <class C>
SM100_HD constexpr uint32_t slab_bytes(const C& c, int rows) {
  return uint32_t(rows) * slab_row_bytes(c);
}

/// Operand of MMA number `step` of a stage.
template <class C>
SM100_HD constexpr SmemDescriptor slab_descriptor(const C& c, SmemAddr tile, int rows, int step) {
  const uint32_t slab = slab_bytes(c, rows);
  if (c.swizzle == Swizzle::none)
    return make_smem_descriptor(tile + 2 * uint32_t(step) * slab, slab, 8 * 16, Swizzle::none);
  const uint32_t per_slab = slab_row_bytes(c) / 32;
  const SmemAddr start = tile + uint32_t(step) / per_slab * slab + 32 * (uint32_t(step) % per_slab);
  return make_smem_descriptor(start, 16, 8 * slab_row_bytes(c), c.swizzle);
}

/// Copies of one operand of a stage; one lane.
/// @param row, k  of the tile's first element in the matrix
template <Isa I, class Config>
SM100_KERNEL void load_slabs(I& isa, const Config& cfg, SmemAddr tile, const TensorMap* map, int rows, int row,
                             int k, SmemAddr barrier, Loc loc = Loc::current()) {
  if (cfg.tma_rank == 3) {
    isa.cp_async_bulk_tensor_shared_global(tile, map, TensorCoords{0, row, k / slab_elements(cfg)}, barrier,
                                           cfg.cta_group, loc);
  } else {
    for (int slab = 0; slab < slabs(cfg); ++slab)
      isa.cp_async_bulk_tensor_shared_global(tile + uint32_t(slab) * slab_bytes(cfg, rows), map,
                                             TensorCoords{k + slab * slab_elements(cfg), row}, barrier,
                                             cfg.cta_group, loc);
  }
}

}  // namespace sm100
