// SPDX-License-Identifier: Apache-2.0
/// TMA tensor copies and bulk groups (PTX 9.7.9.25, .27).
///
/// A tensor map is a `__grid_constant__` kernel parameter, or lies in global memory; the instructions take its
/// generic address. cta_group is part of the opcode; 2 (sm_100a) lets the mbarrier be the peer's.  Coordinates go
/// innermost dimension first.  `.tile` mode, 1 to 5 dimensions.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

// The three copies of one rank.  `c` is the text of the coordinate operands, which come first; p0 ... p3 are
// the operands after them; the variable part lists the coordinates.
// clang-format off
#define SM100_TENSOR_COPIES(rank, c, p0, p1, p2, p3, ...)                                                        \
  SM100_KERNEL void cp_async_bulk_tensor_shared_global(SmemAddr dst, const TensorMap* map,                       \
                                                       TensorCoords<rank> coords, SmemAddr barrier,              \
                                                       int cta_group = 1, Loc = Loc::current()) const {          \
    if (cta_group == 1)                                                                                          \
      asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "   \
                   "[" p0 "], [" p1 ", {" c "}], [" p2 "];"                                                      \
                   ::__VA_ARGS__, "r"(dst.value), "l"(map), "r"(barrier.value) : "memory");                      \
    else                                                                                                         \
      asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"    \
                   ".cta_group::2 [" p0 "], [" p1 ", {" c "}], [" p2 "];"                                        \
                   ::__VA_ARGS__, "r"(dst.value), "l"(map), "r"(barrier.value) : "memory");                      \
  }                                                                                                              \
  SM100_KERNEL void cp_async_bulk_tensor_shared_global_multicast(SmemAddr dst, const TensorMap* map,             \
                                                                 TensorCoords<rank> coords, SmemAddr barrier,    \
                                                                 CtaMask mask, int cta_group = 1,                \
                                                                 Loc = Loc::current()) const {                   \
    if (cta_group == 1)                                                                                          \
      asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"    \
                   ".multicast::cluster [" p0 "], [" p1 ", {" c "}], [" p2 "], " p3 ";"                          \
                   ::__VA_ARGS__, "r"(dst.value), "l"(map), "r"(barrier.value), "h"(mask.bits) : "memory");      \
    else                                                                                                         \
      asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"    \
                   ".multicast::cluster.cta_group::2 [" p0 "], [" p1 ", {" c "}], [" p2 "], " p3 ";"             \
                   ::__VA_ARGS__, "r"(dst.value), "l"(map), "r"(barrier.value), "h"(mask.bits) : "memory");      \
  }                                                                                                              \
  SM100_KERNEL void cp_async_bulk_tensor_global_shared(const TensorMap* map, TensorCoords<rank> coords,          \
                                                       SmemAddr src, Loc = Loc::current()) const {               \
    asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.tile.bulk_group "                           \
                 "[" p0 ", {" c "}], [" p1 "];"                                                                  \
                 ::__VA_ARGS__, "l"(map), "r"(src.value) : "memory");                                            \
  }
#define SM100_COORD(i) "r"(coords.c[i])

class TensorCopy {
 public:
  /// A hint; no effect on state.
  SM100_KERNEL void prefetch_tensormap(const TensorMap* map) const {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
  }

  SM100_TENSOR_COPIES(1, "%0", "%1", "%2", "%3", "%4", SM100_COORD(0))
  SM100_TENSOR_COPIES(2, "%0, %1", "%2", "%3", "%4", "%5", SM100_COORD(0), SM100_COORD(1))
  SM100_TENSOR_COPIES(3, "%0, %1, %2", "%3", "%4", "%5", "%6", SM100_COORD(0), SM100_COORD(1), SM100_COORD(2))
  SM100_TENSOR_COPIES(4, "%0, %1, %2, %3", "%4", "%5", "%6", "%7",
                      SM100_COORD(0), SM100_COORD(1), SM100_COORD(2), SM100_COORD(3))
  SM100_TENSOR_COPIES(5, "%0, %1, %2, %3, %4", "%5", "%6", "%7", "%8",
                      SM100_COORD(0), SM100_COORD(1), SM100_COORD(2), SM100_COORD(3), SM100_COORD(4))

  // The same with a map in global memory: a global address is a generic one.
  template <int N>
  SM100_KERNEL void cp_async_bulk_tensor_shared_global(SmemAddr dst, GlobalAddr map, TensorCoords<N> coords,
                                                       SmemAddr barrier, int cta_group = 1,
                                                       Loc = Loc::current()) const {
    cp_async_bulk_tensor_shared_global(dst, generic(map), coords, barrier, cta_group);
  }
  template <int N>
  SM100_KERNEL void cp_async_bulk_tensor_shared_global_multicast(SmemAddr dst, GlobalAddr map,
                                                                 TensorCoords<N> coords, SmemAddr barrier,
                                                                 CtaMask mask, int cta_group = 1,
                                                                 Loc = Loc::current()) const {
    cp_async_bulk_tensor_shared_global_multicast(dst, generic(map), coords, barrier, mask, cta_group);
  }
  template <int N>
  SM100_KERNEL void cp_async_bulk_tensor_global_shared(GlobalAddr map, TensorCoords<N> coords, SmemAddr src,
                                                       Loc = Loc::current()) const {
    cp_async_bulk_tensor_global_shared(generic(map), coords, src);
  }
  SM100_KERNEL void prefetch_tensormap(GlobalAddr map) const { prefetch_tensormap(generic(map)); }

  /// Groups belong to the thread that committed them.
  SM100_KERNEL void cp_async_bulk_commit_group() const {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  /// At most N groups still read their sources.
  template <int N>
  SM100_KERNEL void cp_async_bulk_wait_group_read() const {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
  }
  /// At most N groups are incomplete.
  template <int N>
  SM100_KERNEL void cp_async_bulk_wait_group() const {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
  }

 private:
  SM100_KERNEL static const TensorMap* generic(GlobalAddr map) {
    return reinterpret_cast<const TensorMap*>(map.value);
  }
};
// clang-format on

#undef SM100_COORD
#undef SM100_TENSOR_COPIES

}  // namespace sm100::device
