// SPDX-License-Identifier: Apache-2.0
/// The tensor maps of groups, edited by the kernel: address, dimensions and strides of a group's tensors.
///
/// Shared memory: one lane edits the copy that the CTA keeps of a template, the warp brings it to its place in
/// global memory with tensormap.cp_fenceproxy, which releases it, and acquires it.  Global memory: one lane edits
/// the map where it lies, then come the release and the acquire.  The warp that edits a map is the one that copies
/// with it, so no barrier lies between.
#pragma once

#include "kernels/block_scaled/config.h"
#include "kernels/grouped_block_scaled/config.h"
#include "kernels/grouped_block_scaled/params.h"
#include "kernels/isa/isa.h"

namespace sm100 {

/// One lane: a template's bytes to shared memory.
template <Isa I>
SM100_KERNEL void copy_template(I& isa, const TensorMap& from, SmemAddr to, Loc loc = Loc::current()) {
  for (uint32_t at = 0; at < kTensorMapBytes; at += 16) {
    UniformWords<4> words;
    __builtin_memcpy(words.w, from.bytes + at, sizeof words.w);
    isa.st_shared_v4(to + at, words, loc);
  }
}

/// What a group's matrix of rows is, in bytes and rows.
struct MatrixExtent {
  uint64_t address;
  uint32_t columns;  ///< elements of the map
  uint32_t rows;
  uint64_t row_bytes;
};

/// One lane.  `Map`: SmemAddr or GlobalAddr.
template <Isa I, class Map>
SM100_KERNEL void edit_matrix_map(I& isa, Map map, const MatrixExtent& matrix, Loc loc = Loc::current()) {
  isa.tensormap_replace_global_address(map, matrix.address, loc);
  isa.template tensormap_replace_global_dim<0>(map, matrix.columns, loc);
  isa.template tensormap_replace_global_dim<1>(map, matrix.rows, loc);
  isa.template tensormap_replace_global_stride<0>(map, matrix.row_bytes, loc);
}

/// What a group's scale tensor is, in atoms.
struct ScaleExtent {
  uint32_t k_atoms;
  uint32_t row_groups;
};

/// One lane.
template <Isa I, class Map>
SM100_KERNEL void edit_scale_map(I& isa, Map map, uint64_t address, const ScaleExtent& scales,
                                 Loc loc = Loc::current()) {
  isa.tensormap_replace_global_address(map, address, loc);
  isa.template tensormap_replace_global_dim<1>(map, scales.k_atoms, loc);
  isa.template tensormap_replace_global_dim<2>(map, scales.row_groups, loc);
  isa.template tensormap_replace_global_stride<1>(map, uint64_t(scales.k_atoms) * kScaleAtomBytes, loc);
}

template <Isa I>
SM100_KERNEL uint64_t load_pointer(I& isa, GlobalAddr pointers, int group, GroupPointer which,
                                   Loc loc = Loc::current()) {
  return isa.ld_global_nc_b64(pointers + (uint64_t(group) * kPointerRowBytes + 8 * uint64_t(which)), loc);
}

/// The whole warp: edits `count` maps, neighbours in global memory at `maps` and their copies in shared memory at
/// `copies`.
/// @param edit  edit(map, i) edits map i, a SmemAddr or a GlobalAddr; one lane
template <Isa I, class Config, class F>
SM100_KERNEL void publish_maps(I& isa, const Config& cfg, GlobalAddr maps, SmemAddr copies, int count, F&& edit,
                               Loc loc = Loc::current()) {
  if (cfg.map_edits == MapEdits::shared) {
    isa.elected([&] {
      for (int i = 0; i < count; ++i) edit(copies + uint32_t(i) * kTensorMapBytes, i);
    });
    isa.bar_warp_sync();  // the lanes copy what one of them has edited
    for (int i = 0; i < count; ++i)
      isa.tensormap_cp_fenceproxy(maps + uint64_t(i) * kTensorMapBytes, copies + uint32_t(i) * kTensorMapBytes,
                                  MemoryScope::gpu, loc);
  } else {
    isa.elected([&] {
      for (int i = 0; i < count; ++i) edit(maps + uint64_t(i) * kTensorMapBytes, i);
    });
    isa.fence_proxy_tensormap_release(MemoryScope::gpu, loc);
    isa.bar_warp_sync();
  }
  for (int i = 0; i < count; ++i)
    isa.fence_proxy_tensormap_acquire(maps + uint64_t(i) * kTensorMapBytes, MemoryScope::gpu, loc);
}

}  // namespace sm100
