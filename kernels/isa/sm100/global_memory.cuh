/// Loads and stores of single lanes in global memory (PTX 9.7.9.8, .11).
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

/// Predicated, not branched over: the warp stays converged.
class GlobalMemory {
 public:
  /// Zero in lanes without the predicate.
  SM100_KERNEL LaneArray<uint32_t, 1> ld_global_b16(const LaneArray<GlobalAddr, 1>& addresses,
                                                    const LaneArray<bool, 1>& predicates,
                                                    Loc = Loc::current()) const {
    uint16_t value;
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %2, 0;\n\t"
        "mov.b16 %0, 0;\n\t"
        "@p ld.global.b16 %0, [%1];\n\t"
        "}"
        : "=&h"(value)
        : "l"(addresses[0][0].value), "r"(uint32_t(predicates[0][0]))
        : "memory");
    LaneArray<uint32_t, 1> values;
    values[0][0] = value;
    return values;
  }
  SM100_KERNEL LaneArray<uint32_t, 1> ld_global_b32(const LaneArray<GlobalAddr, 1>& addresses,
                                                    const LaneArray<bool, 1>& predicates,
                                                    Loc = Loc::current()) const {
    LaneArray<uint32_t, 1> values;
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %2, 0;\n\t"
        "mov.b32 %0, 0;\n\t"
        "@p ld.global.b32 %0, [%1];\n\t"
        "}"
        : "=&r"(values[0][0])
        : "l"(addresses[0][0].value), "r"(uint32_t(predicates[0][0]))
        : "memory");
    return values;
  }
  /// Stores the lower half of the register.
  SM100_KERNEL void st_global_b16(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                                  const LaneArray<bool, 1>& predicates, Loc = Loc::current()) const {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %2, 0;\n\t"
        "@p st.global.b16 [%0], %1;\n\t"
        "}" ::"l"(addresses[0][0].value),
        "h"(uint16_t(values[0][0])), "r"(uint32_t(predicates[0][0]))
        : "memory");
  }
  SM100_KERNEL void st_global_b32(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                                  const LaneArray<bool, 1>& predicates, Loc = Loc::current()) const {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %2, 0;\n\t"
        "@p st.global.b32 [%0], %1;\n\t"
        "}" ::"l"(addresses[0][0].value),
        "r"(values[0][0]), "r"(uint32_t(predicates[0][0]))
        : "memory");
  }
};

}  // namespace sm100::device
