// SPDX-License-Identifier: Apache-2.0
/// Bulk copies of bytes, reductions, prefetches into L2, tensor copies with an L2 hint (PTX 9.7.9.25).
///
/// A policy of 0 leaves the hint out; it is a constant once role code is inlined.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/opcode.cuh"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

// Of one rank: `c` is the text of the coordinate operands, which come first; p0 ... p4 are the operands after them;
// the variable part lists the coordinates.
// clang-format off
#define SM100_TENSOR_FORMS(rank, c, p0, p1, p2, p3, p4, ...)                                                     \
  SM100_KERNEL void cp_async_bulk_tensor_shared_global(SmemAddr dst, const TensorMap* map,                       \
                                                       TensorCoords<rank> coords, SmemAddr barrier,              \
                                                       L2CachePolicy policy, int cta_group = 1,                  \
                                                       Loc = Loc::current()) const {                             \
    if (cta_group == 1)                                                                                          \
      asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"    \
                   ".L2::cache_hint [" p0 "], [" p1 ", {" c "}], [" p2 "], " p3 ";"                              \
                   ::__VA_ARGS__, "r"(dst.value), "l"(map), "r"(barrier.value), "l"(policy.bits) : "memory");    \
    else                                                                                                         \
      asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"    \
                   ".cta_group::2.L2::cache_hint [" p0 "], [" p1 ", {" c "}], [" p2 "], " p3 ";"                 \
                   ::__VA_ARGS__, "r"(dst.value), "l"(map), "r"(barrier.value), "l"(policy.bits) : "memory");    \
  }                                                                                                              \
  SM100_KERNEL void cp_async_bulk_tensor_shared_global_multicast(SmemAddr dst, const TensorMap* map,             \
                                                                 TensorCoords<rank> coords, SmemAddr barrier,    \
                                                                 CtaMask mask, L2CachePolicy policy,             \
                                                                 int cta_group = 1, Loc = Loc::current()) const {\
    if (cta_group == 1)                                                                                          \
      asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"    \
                   ".multicast::cluster.L2::cache_hint [" p0 "], [" p1 ", {" c "}], [" p2 "], " p4 ", " p3 ";"   \
                   ::__VA_ARGS__, "r"(dst.value), "l"(map), "r"(barrier.value), "l"(policy.bits),                \
                   "h"(mask.bits) : "memory");                                                                   \
    else                                                                                                         \
      asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"    \
                   ".multicast::cluster.cta_group::2.L2::cache_hint [" p0 "], [" p1 ", {" c "}], [" p2 "], "     \
                   p4 ", " p3 ";"                                                                                \
                   ::__VA_ARGS__, "r"(dst.value), "l"(map), "r"(barrier.value), "l"(policy.bits),                \
                   "h"(mask.bits) : "memory");                                                                   \
  }                                                                                                              \
  SM100_KERNEL void cp_async_bulk_tensor_global_shared(const TensorMap* map, TensorCoords<rank> coords,          \
                                                       SmemAddr src, L2CachePolicy policy,                       \
                                                       Loc = Loc::current()) const {                             \
    asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.tile.bulk_group.L2::cache_hint "            \
                 "[" p0 ", {" c "}], [" p1 "], " p2 ";"                                                          \
                 ::__VA_ARGS__, "l"(map), "r"(src.value), "l"(policy.bits) : "memory");                          \
  }                                                                                                              \
  template <ReduceOp kOp>                                                                                        \
  SM100_KERNEL void cp_reduce_async_bulk_tensor_global_shared(const TensorMap* map, TensorCoords<rank> coords,   \
                                                              SmemAddr src, L2CachePolicy policy = {},           \
                                                              Loc = Loc::current()) const {                      \
    if (policy.bits == 0)                                                                                        \
      asm volatile("cp.reduce.async.bulk.tensor." #rank "d.global.shared::cta." p2 ".tile.bulk_group "           \
                   "[" p0 ", {" c "}], [" p1 "];"                                                                \
                   ::__VA_ARGS__, "l"(map), "r"(src.value), "C"(OpText<kOp>::kText) : "memory");                 \
    else                                                                                                         \
      asm volatile("cp.reduce.async.bulk.tensor." #rank "d.global.shared::cta." p2 ".tile.bulk_group"            \
                   ".L2::cache_hint [" p0 ", {" c "}], [" p1 "], " p3 ";"                                        \
                   ::__VA_ARGS__, "l"(map), "r"(src.value), "C"(OpText<kOp>::kText), "l"(policy.bits)            \
                   : "memory");                                                                                  \
  }                                                                                                              \
  SM100_KERNEL void cp_async_bulk_prefetch_tensor_l2(const TensorMap* map, TensorCoords<rank> coords,            \
                                                     L2CachePolicy policy = {}, Loc = Loc::current()) const {    \
    if (policy.bits == 0)                                                                                        \
      asm volatile("cp.async.bulk.prefetch.tensor." #rank "d.L2.global.tile [" p0 ", {" c "}];"                  \
                   ::__VA_ARGS__, "l"(map) : "memory");                                                          \
    else                                                                                                         \
      asm volatile("cp.async.bulk.prefetch.tensor." #rank "d.L2.global.tile.L2::cache_hint [" p0 ", {" c "}], "  \
                   p1 ";" ::__VA_ARGS__, "l"(map), "l"(policy.bits) : "memory");                                 \
  }
#define SM100_COORD(i) "r"(coords.c[i])

class BulkCopy {
 public:
  SM100_TENSOR_FORMS(1, "%0", "%1", "%2", "%3", "%4", "%5", SM100_COORD(0))
  SM100_TENSOR_FORMS(2, "%0, %1", "%2", "%3", "%4", "%5", "%6", SM100_COORD(0), SM100_COORD(1))
  SM100_TENSOR_FORMS(3, "%0, %1, %2", "%3", "%4", "%5", "%6", "%7", SM100_COORD(0), SM100_COORD(1), SM100_COORD(2))
  SM100_TENSOR_FORMS(4, "%0, %1, %2, %3", "%4", "%5", "%6", "%7", "%8",
                     SM100_COORD(0), SM100_COORD(1), SM100_COORD(2), SM100_COORD(3))
  SM100_TENSOR_FORMS(5, "%0, %1, %2, %3, %4", "%5", "%6", "%7", "%8", "%9",
                     SM100_COORD(0), SM100_COORD(1), SM100_COORD(2), SM100_COORD(3), SM100_COORD(4))
  // clang-format on

  SM100_KERNEL void cp_async_bulk_shared_global(SmemAddr dst, GlobalAddr src, uint32_t bytes, SmemAddr barrier,
                                                L2CachePolicy policy = {}, Loc = Loc::current()) const {
    if (policy.bits == 0)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       dst.value),
                   "l"(src.value), "r"(bytes), "r"(barrier.value)
                   : "memory");
    else
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
          "%4;" ::"r"(dst.value),
          "l"(src.value), "r"(bytes), "r"(barrier.value), "l"(policy.bits)
          : "memory");
  }
  SM100_KERNEL void cp_async_bulk_shared_global_multicast(SmemAddr dst, GlobalAddr src, uint32_t bytes,
                                                          SmemAddr barrier, CtaMask mask, L2CachePolicy policy = {},
                                                          Loc = Loc::current()) const {
    if (policy.bits == 0)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
          "[%3], %4;" ::"r"(dst.value),
          "l"(src.value), "r"(bytes), "r"(barrier.value), "h"(mask.bits)
          : "memory");
    else
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
          "[%0], [%1], %2, [%3], %4, %5;" ::"r"(dst.value),
          "l"(src.value), "r"(bytes), "r"(barrier.value), "h"(mask.bits), "l"(policy.bits)
          : "memory");
  }
  /// Into the thread's open bulk group.
  SM100_KERNEL void cp_async_bulk_global_shared(GlobalAddr dst, SmemAddr src, uint32_t bytes,
                                                L2CachePolicy policy = {}, Loc = Loc::current()) const {
    if (policy.bits == 0)
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst.value), "r"(src.value),
                   "r"(bytes)
                   : "memory");
    else
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(dst.value),
          "r"(src.value), "r"(bytes), "l"(policy.bits)
          : "memory");
  }
  SM100_KERNEL void cp_async_bulk_shared_cluster(ClusterSmemAddr dst, SmemAddr src, uint32_t bytes,
                                                 ClusterSmemAddr barrier, Loc = Loc::current()) const {
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            dst.value),
        "r"(src.value), "r"(bytes), "r"(barrier.value)
        : "memory");
  }
  template <ReduceOp kOp, ReduceType kType>
  SM100_KERNEL void cp_reduce_async_bulk_global_shared(GlobalAddr dst, SmemAddr src, uint32_t bytes,
                                                       L2CachePolicy policy = {}, Loc = Loc::current()) const {
    static_assert(reduces_global(kOp, kType), "cp.reduce.async.bulk to global memory has no such reduction");
    if (policy.bits == 0)
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.%3%4.%5 [%0], [%1], %2;" ::"l"(dst.value),
                   "r"(src.value), "r"(bytes), "C"(OpText<kOp>::kText),
                   "C"(NoftzText<has_noftz(kOp, kType)>::kText), "C"(TypeText<kType>::kText)
                   : "memory");
    else
      asm volatile(
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.%3%4.%5 [%0], [%1], %2, %6;" ::"l"(
              dst.value),
          "r"(src.value), "r"(bytes), "C"(OpText<kOp>::kText), "C"(NoftzText<has_noftz(kOp, kType)>::kText),
          "C"(TypeText<kType>::kText), "l"(policy.bits)
          : "memory");
  }
  template <ReduceOp kOp, ReduceType kType>
  SM100_KERNEL void cp_reduce_async_bulk_shared_cluster(ClusterSmemAddr dst, SmemAddr src, uint32_t bytes,
                                                        ClusterSmemAddr barrier, Loc = Loc::current()) const {
    static_assert(reduces_shared(kOp, kType), "cp.reduce.async.bulk to shared memory has no such reduction");
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%4.%5 [%0], [%1], %2, "
        "[%3];" ::"r"(dst.value),
        "r"(src.value), "r"(bytes), "r"(barrier.value), "C"(OpText<kOp>::kText), "C"(TypeText<kType>::kText)
        : "memory");
  }
  SM100_KERNEL void cp_async_bulk_prefetch_l2(GlobalAddr src, uint32_t bytes, L2CachePolicy policy = {},
                                              Loc = Loc::current()) const {
    if (policy.bits == 0)
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(src.value), "r"(bytes) : "memory");
    else
      asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;" ::"l"(src.value), "r"(bytes),
                   "l"(policy.bits)
                   : "memory");
  }
};

#undef SM100_COORD
#undef SM100_TENSOR_FORMS

/// Byte i of every 16 is written where bit i of the mask is set (sm_100).
template <bool kAvailable = kTargetHasClusterLaunchControl>
class MaskedBulkCopy {
 public:
  SM100_KERNEL void cp_async_bulk_global_shared_cp_mask(GlobalAddr dst, SmemAddr src, uint32_t bytes,
                                                        uint16_t byte_mask, L2CachePolicy policy = {},
                                                        Loc = Loc::current()) const {
    SM100_REQUIRE_MASKED_COPY(kAvailable);
    if (policy.bits == 0)
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;" ::"l"(dst.value),
                   "r"(src.value), "r"(bytes), "h"(byte_mask)
                   : "memory");
    else
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%0], [%1], %2, %3, %4;" ::"l"(
              dst.value),
          "r"(src.value), "r"(bytes), "l"(policy.bits), "h"(byte_mask)
          : "memory");
  }
};

}  // namespace sm100::device
