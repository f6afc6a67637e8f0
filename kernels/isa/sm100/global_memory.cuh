/// Stores of single lanes to global memory (PTX 9.7.9.11).
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

/// Predicated, not branched over: the warp stays converged.
class GlobalMemory {
 public:
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
