// SPDX-License-Identifier: Apache-2.0
/// Atomics in global memory (PTX 9.7.13.3, .4); what is part of the opcode is a template argument.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/opcode.cuh"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

// The four forms that differ in the registers' constraint: f(text of the constraint, C++ type of the register).
// clang-format off
#define SM100_ATOMICS(r, Register)                                                                               \
  template <ReduceOp kOp, ReduceType kType, MemorySem kSem, MemoryScope kScope>                                  \
  SM100_KERNEL static Register atom(GlobalAddr address, Register value) {                                        \
    Register old;                                                                                                \
    asm volatile("atom.%3.%4.global.%5%6.%7 %0, [%1], %2;"                                                       \
                 : "=" r(old)                                                                                    \
                 : "l"(address.value), r(value), "C"(SemText<kSem>::kText), "C"(ScopeText<kScope>::kText),       \
                   "C"(OpText<kOp>::kText), "C"(NoftzText<has_noftz(kOp, kType)>::kText),                        \
                   "C"(TypeText<kType>::kText)                                                                   \
                 : "memory");                                                                                    \
    return old;                                                                                                  \
  }                                                                                                              \
  template <ReduceOp kOp, ReduceType kType, MemorySem kSem, MemoryScope kScope>                                  \
  SM100_KERNEL static void red(GlobalAddr address, Register value) {                                             \
    asm volatile("red.%2.%3.global.%4%5.%6 [%0], %1;" ::"l"(address.value), r(value), "C"(SemText<kSem>::kText), \
                 "C"(ScopeText<kScope>::kText), "C"(OpText<kOp>::kText),                                         \
                 "C"(NoftzText<has_noftz(kOp, kType)>::kText), "C"(TypeText<kType>::kText)                       \
                 : "memory");                                                                                    \
  }
#define SM100_CAS(r, Register)                                                                                   \
  template <ReduceType kType, MemorySem kSem, MemoryScope kScope>                                                \
  SM100_KERNEL static Register cas(GlobalAddr address, Register compare, Register value) {                       \
    Register old;                                                                                                \
    asm volatile("atom.%4.%5.global.cas.%6 %0, [%1], %2, %3;"                                                    \
                 : "=" r(old)                                                                                    \
                 : "l"(address.value), r(compare), r(value), "C"(SemText<kSem>::kText),                          \
                   "C"(ScopeText<kScope>::kText), "C"(TypeText<kType>::kText)                                    \
                 : "memory");                                                                                    \
    return old;                                                                                                  \
  }

class Atomics {
 public:
  template <ReduceOp kOp, ReduceType kType, MemorySem kSem, MemoryScope kScope, class T>
  SM100_KERNEL LaneArray<T, 1> atom_global(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<T, 1>& values,
                                           Loc = Loc::current()) const {
    static_assert(atomic_global(kOp, kType), "atom.global has no such operation");
    static_assert(sizeof(T) == register_bytes(kType));
    LaneArray<T, 1> old;
    old[0][0] = T(atom<kOp, kType, kSem, kScope>(addresses[0][0], as_register<kType>(values[0][0])));
    return old;
  }
  template <ReduceOp kOp, ReduceType kType, MemorySem kSem, MemoryScope kScope, class T>
  SM100_KERNEL void red_global(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<T, 1>& values,
                               Loc = Loc::current()) const {
    static_assert(atomic_global(kOp, kType) && kOp != ReduceOp::exch, "red.global has no such operation");
    static_assert(kSem == MemorySem::relaxed || kSem == MemorySem::release, "red has .relaxed and .release");
    static_assert(sizeof(T) == register_bytes(kType));
    red<kOp, kType, kSem, kScope>(addresses[0][0], as_register<kType>(values[0][0]));
  }
  template <ReduceType kType, MemorySem kSem, MemoryScope kScope, class T>
  SM100_KERNEL LaneArray<T, 1> atom_cas_global(const LaneArray<GlobalAddr, 1>& addresses,
                                               const LaneArray<T, 1>& compare, const LaneArray<T, 1>& values,
                                               Loc = Loc::current()) const {
    static_assert(kType == ReduceType::b32 || kType == ReduceType::b64, "atom.cas has .b32 and .b64 here");
    static_assert(sizeof(T) == register_bytes(kType));
    LaneArray<T, 1> old;
    old[0][0] = cas<kType, kSem, kScope>(addresses[0][0], compare[0][0], values[0][0]);
    return old;
  }

 private:
  SM100_ATOMICS("r", uint32_t)
  SM100_ATOMICS("l", uint64_t)
  SM100_ATOMICS("h", uint16_t)
  SM100_CAS("r", uint32_t)
  SM100_CAS("l", uint64_t)

  /// PTX wants 16-bit registers for the 16-bit types.
  template <ReduceType kType, class T>
  SM100_KERNEL static auto as_register(T value) {
    if constexpr (bytes_of(kType) == 2)
      return uint16_t(value);
    else
      return value;
  }
};
// clang-format on

#undef SM100_ATOMICS
#undef SM100_CAS

}  // namespace sm100::device
