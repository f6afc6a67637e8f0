// SPDX-License-Identifier: Apache-2.0
/// Tensor maps that a kernel edits (PTX tensormap.replace, tensormap.cp_fenceproxy, fence.proxy.tensormap).
///
/// A map in global memory, or a copy of it in shared memory; ordinals, element types, modes and the size are
/// immediates.  sm_90a and sm_100a have all of it, sm_90a but the swizzle's atomicity.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

// clang-format off
/// `register` is the constraint of the new value, `value` its type.
#define SM100_TENSORMAP_REPLACE(function, shared_opcode, global_opcode, register_class, value_type)             \
  SM100_KERNEL void function(SmemAddr map, value_type value, Loc = Loc::current()) const {                       \
    asm volatile(shared_opcode " [%0], %1;" ::"r"(map.value), register_class(value) : "memory");                 \
  }                                                                                                              \
  SM100_KERNEL void function(GlobalAddr map, value_type value, Loc = Loc::current()) const {                     \
    asm volatile(global_opcode " [%0], %1;" ::"l"(map.value), register_class(value) : "memory");                 \
  }
#define SM100_TENSORMAP_REPLACE_DIMENSION(function, shared_opcode, global_opcode, register_class, value_type)   \
  template <int kOrdinal>                                                                                        \
  SM100_KERNEL void function(SmemAddr map, value_type value, Loc = Loc::current()) const {                       \
    asm volatile(shared_opcode " [%0], %1, %2;" ::"r"(map.value), "n"(kOrdinal), register_class(value)           \
                 : "memory");                                                                                    \
  }                                                                                                              \
  template <int kOrdinal>                                                                                        \
  SM100_KERNEL void function(GlobalAddr map, value_type value, Loc = Loc::current()) const {                     \
    asm volatile(global_opcode " [%0], %1, %2;" ::"l"(map.value), "n"(kOrdinal), register_class(value)           \
                 : "memory");                                                                                    \
  }
#define SM100_TENSORMAP_REPLACE_ENUM(function, shared_opcode, global_opcode, enum_type)                         \
  template <enum_type kValue>                                                                                    \
  SM100_KERNEL void function(SmemAddr map, Loc = Loc::current()) const {                                         \
    asm volatile(shared_opcode " [%0], %1;" ::"r"(map.value), "n"(int(kValue)) : "memory");                      \
  }                                                                                                              \
  template <enum_type kValue>                                                                                    \
  SM100_KERNEL void function(GlobalAddr map, Loc = Loc::current()) const {                                       \
    asm volatile(global_opcode " [%0], %1;" ::"l"(map.value), "n"(int(kValue)) : "memory");                      \
  }

class TensorMapEdits {
 public:
  SM100_TENSORMAP_REPLACE(tensormap_replace_global_address,
                          "tensormap.replace.tile.global_address.shared::cta.b1024.b64",
                          "tensormap.replace.tile.global_address.global.b1024.b64", "l", uint64_t)
  /// The value is the rank less one.
  SM100_TENSORMAP_REPLACE(tensormap_replace_rank, "tensormap.replace.tile.rank.shared::cta.b1024.b32",
                          "tensormap.replace.tile.rank.global.b1024.b32", "r", uint32_t)
  SM100_TENSORMAP_REPLACE_DIMENSION(tensormap_replace_box_dim,
                                    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32",
                                    "tensormap.replace.tile.box_dim.global.b1024.b32", "r", uint32_t)
  SM100_TENSORMAP_REPLACE_DIMENSION(tensormap_replace_global_dim,
                                    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32",
                                    "tensormap.replace.tile.global_dim.global.b1024.b32", "r", uint32_t)
  /// Bytes; ordinal i belongs to dimension i + 1.
  SM100_TENSORMAP_REPLACE_DIMENSION(tensormap_replace_global_stride,
                                    "tensormap.replace.tile.global_stride.shared::cta.b1024.b64",
                                    "tensormap.replace.tile.global_stride.global.b1024.b64", "l", uint64_t)
  SM100_TENSORMAP_REPLACE_DIMENSION(tensormap_replace_element_stride,
                                    "tensormap.replace.tile.element_stride.shared::cta.b1024.b32",
                                    "tensormap.replace.tile.element_stride.global.b1024.b32", "r", uint32_t)
  SM100_TENSORMAP_REPLACE_ENUM(tensormap_replace_elemtype,
                               "tensormap.replace.tile.elemtype.shared::cta.b1024.b32",
                               "tensormap.replace.tile.elemtype.global.b1024.b32", TensorMapElemtype)
  SM100_TENSORMAP_REPLACE_ENUM(tensormap_replace_interleave_layout,
                               "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32",
                               "tensormap.replace.tile.interleave_layout.global.b1024.b32", TensorMapInterleave)
  SM100_TENSORMAP_REPLACE_ENUM(tensormap_replace_swizzle_mode,
                               "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32",
                               "tensormap.replace.tile.swizzle_mode.global.b1024.b32", TensorMapSwizzleMode)
  SM100_TENSORMAP_REPLACE_ENUM(tensormap_replace_swizzle_atomicity,
                               "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32",
                               "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32",
                               TensorMapSwizzleAtomicity)
  SM100_TENSORMAP_REPLACE_ENUM(tensormap_replace_fill_mode,
                               "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32",
                               "tensormap.replace.tile.fill_mode.global.b1024.b32", TensorMapOobFill)

  /// The whole warp: 128 bytes from shared to global memory, then the release.
  SM100_KERNEL void tensormap_cp_fenceproxy(GlobalAddr to, SmemAddr from, MemoryScope scope,
                                            Loc = Loc::current()) const {
    if (scope == MemoryScope::cta)
      asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.cta.sync.aligned "
                   "[%0], [%1], 128;" ::"l"(to.value), "r"(from.value) : "memory");
    else if (scope == MemoryScope::cluster)
      asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.cluster.sync.aligned "
                   "[%0], [%1], 128;" ::"l"(to.value), "r"(from.value) : "memory");
    else if (scope == MemoryScope::gpu)
      asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                   "[%0], [%1], 128;" ::"l"(to.value), "r"(from.value) : "memory");
    else
      asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.sys.sync.aligned "
                   "[%0], [%1], 128;" ::"l"(to.value), "r"(from.value) : "memory");
  }
  SM100_KERNEL void fence_proxy_tensormap_release(MemoryScope scope, Loc = Loc::current()) const {
    if (scope == MemoryScope::cta)
      asm volatile("fence.proxy.tensormap::generic.release.cta;" ::: "memory");
    else if (scope == MemoryScope::cluster)
      asm volatile("fence.proxy.tensormap::generic.release.cluster;" ::: "memory");
    else if (scope == MemoryScope::gpu)
      asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    else
      asm volatile("fence.proxy.tensormap::generic.release.sys;" ::: "memory");
  }
  SM100_KERNEL void fence_proxy_tensormap_acquire(GlobalAddr map, MemoryScope scope, Loc = Loc::current()) const {
    if (scope == MemoryScope::cta)
      asm volatile("fence.proxy.tensormap::generic.acquire.cta [%0], 128;" ::"l"(map.value) : "memory");
    else if (scope == MemoryScope::cluster)
      asm volatile("fence.proxy.tensormap::generic.acquire.cluster [%0], 128;" ::"l"(map.value) : "memory");
    else if (scope == MemoryScope::gpu)
      asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map.value) : "memory");
    else
      asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(map.value) : "memory");
  }
};
// clang-format on

#undef SM100_TENSORMAP_REPLACE
#undef SM100_TENSORMAP_REPLACE_DIMENSION
#undef SM100_TENSORMAP_REPLACE_ENUM

}  // namespace sm100::device
