// SPDX-License-Identifier: Apache-2.0
/// Shared memory of other CTAs of the cluster: loads, stores, st.async and red.async (PTX 9.7.9.8, .11,
/// .12, 9.7.13.7).
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/opcode.cuh"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

class ClusterMemory {
 public:
  using Addresses = LaneArray<ClusterSmemAddr, 1>;

  SM100_KERNEL LaneArray<uint32_t, 1> ld_shared_b32(const Addresses& addresses, Loc = Loc::current()) const {
    LaneArray<uint32_t, 1> values;
    asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(values[0][0]) : "r"(addresses[0][0].value) : "memory");
    return values;
  }
  SM100_KERNEL LaneArray<uint32_t, 4> ld_shared_v4(const Addresses& addresses, Loc = Loc::current()) const {
    LaneArray<uint32_t, 4> values;
    auto& v = values[0];
    asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(addresses[0][0].value)
                 : "memory");
    return values;
  }
  SM100_KERNEL void st_shared_b32(const Addresses& addresses, const LaneArray<uint32_t, 1>& values,
                                  Loc = Loc::current()) const {
    asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(addresses[0][0].value), "r"(values[0][0]) : "memory");
  }
  SM100_KERNEL void st_shared_v2(const Addresses& addresses, const LaneArray<uint32_t, 2>& values,
                                 Loc = Loc::current()) const {
    asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};" ::"r"(addresses[0][0].value), "r"(values[0][0]),
                 "r"(values[0][1])
                 : "memory");
  }
  SM100_KERNEL void st_shared_v4(const Addresses& addresses, const LaneArray<uint32_t, 4>& values,
                                 Loc = Loc::current()) const {
    asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addresses[0][0].value),
                 "r"(values[0][0]), "r"(values[0][1]), "r"(values[0][2]), "r"(values[0][3])
                 : "memory");
  }

  SM100_KERNEL void st_async_b32(const Addresses& addresses, const LaneArray<uint32_t, 1>& values,
                                 const Addresses& barriers, Loc = Loc::current()) const {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                     addresses[0][0].value),
                 "r"(values[0][0]), "r"(barriers[0][0].value)
                 : "memory");
  }
  SM100_KERNEL void st_async_v2(const Addresses& addresses, const LaneArray<uint32_t, 2>& values,
                                const Addresses& barriers, Loc = Loc::current()) const {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(
                     addresses[0][0].value),
                 "r"(values[0][0]), "r"(values[0][1]), "r"(barriers[0][0].value)
                 : "memory");
  }
  SM100_KERNEL void st_async_v4(const Addresses& addresses, const LaneArray<uint32_t, 4>& values,
                                const Addresses& barriers, Loc = Loc::current()) const {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
            addresses[0][0].value),
        "r"(values[0][0]), "r"(values[0][1]), "r"(values[0][2]), "r"(values[0][3]), "r"(barriers[0][0].value)
        : "memory");
  }
  template <ReduceOp kOp, ReduceType kType, class T>
  SM100_KERNEL void red_async(const Addresses& addresses, const LaneArray<T, 1>& values, const Addresses& barriers,
                              Loc = Loc::current()) const {
    static_assert(reduces_shared(kOp, kType), "red.async has no such reduction");
    static_assert(sizeof(T) == bytes_of(kType));
    if constexpr (sizeof(T) == 8)
      asm volatile(
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%3.%4 [%0], %1, [%2];" ::"r"(
              addresses[0][0].value),
          "l"(values[0][0]), "r"(barriers[0][0].value), "C"(OpText<kOp>::kText), "C"(TypeText<kType>::kText)
          : "memory");
    else
      asm volatile(
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.%3.%4 [%0], %1, [%2];" ::"r"(
              addresses[0][0].value),
          "r"(values[0][0]), "r"(barriers[0][0].value), "C"(OpText<kOp>::kText), "C"(TypeText<kType>::kText)
          : "memory");
  }
};

}  // namespace sm100::device
