// SPDX-License-Identifier: Apache-2.0
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
  SM100_KERNEL LaneArray<uint32_t, 2> ld_global_v2(const LaneArray<GlobalAddr, 1>& addresses,
                                                   const LaneArray<bool, 1>& predicates,
                                                   Loc = Loc::current()) const {
    LaneArray<uint32_t, 2> values;
    auto& v = values[0];
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %3, 0;\n\t"
        "mov.b32 %0, 0;\n\t"
        "mov.b32 %1, 0;\n\t"
        "@p ld.global.v2.b32 {%0, %1}, [%2];\n\t"
        "}"
        : "=&r"(v[0]), "=&r"(v[1])
        : "l"(addresses[0][0].value), "r"(uint32_t(predicates[0][0]))
        : "memory");
    return values;
  }
  SM100_KERNEL LaneArray<uint32_t, 4> ld_global_v4(const LaneArray<GlobalAddr, 1>& addresses,
                                                   const LaneArray<bool, 1>& predicates,
                                                   Loc = Loc::current()) const {
    LaneArray<uint32_t, 4> values;
    auto& v = values[0];
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %5, 0;\n\t"
        "mov.b32 %0, 0;\n\t"
        "mov.b32 %1, 0;\n\t"
        "mov.b32 %2, 0;\n\t"
        "mov.b32 %3, 0;\n\t"
        "@p ld.global.v4.b32 {%0, %1, %2, %3}, [%4];\n\t"
        "}"
        : "=&r"(v[0]), "=&r"(v[1]), "=&r"(v[2]), "=&r"(v[3])
        : "l"(addresses[0][0].value), "r"(uint32_t(predicates[0][0]))
        : "memory");
    return values;
  }
  /// Stores the lowest byte of the register.
  SM100_KERNEL void st_global_b8(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                                 const LaneArray<bool, 1>& predicates, Loc = Loc::current()) const {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %2, 0;\n\t"
        "@p st.global.b8 [%0], %1;\n\t"
        "}" ::"l"(addresses[0][0].value),
        "r"(values[0][0]), "r"(uint32_t(predicates[0][0]))
        : "memory");
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

  SM100_KERNEL LaneArray<uint32_t, 2> ld_global_v2(const LaneArray<GlobalAddr, 1>& addresses,
                                                   Loc = Loc::current()) const {
    LaneArray<uint32_t, 2> values;
    asm volatile("ld.global.v2.b32 {%0, %1}, [%2];"
                 : "=r"(values[0][0]), "=r"(values[0][1])
                 : "l"(addresses[0][0].value)
                 : "memory");
    return values;
  }
  SM100_KERNEL void st_global_v2(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values,
                                 Loc = Loc::current()) const {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(addresses[0][0].value), "r"(values[0][0]),
                 "r"(values[0][1])
                 : "memory");
  }
  SM100_KERNEL void st_global_v4(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values,
                                 Loc = Loc::current()) const {
    const auto& v = values[0];
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(addresses[0][0].value), "r"(v[0]), "r"(v[1]),
                 "r"(v[2]), "r"(v[3])
                 : "memory");
  }
  SM100_KERNEL void st_global_v8(const LaneArray<GlobalAddr, 1>& addresses, const LaneArray<uint32_t, 8>& values,
                                 Loc = Loc::current()) const {
    const auto& v = values[0];
    asm volatile("st.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(addresses[0][0].value), "r"(v[0]),
                 "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]), "r"(v[7])
                 : "memory");
  }

  SM100_KERNEL uint32_t ld_global_u32(GlobalAddr address, Loc = Loc::current()) const {
    uint32_t value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(address.value) : "memory");
    return value;
  }

  // ---- of one address, through the read-only cache
  SM100_KERNEL UniformWords<4> ld_global_nc_v4(GlobalAddr address, Loc = Loc::current()) const {
    UniformWords<4> v;
    asm volatile("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
                 : "l"(address.value));
    return v;
  }
  SM100_KERNEL uint64_t ld_global_nc_b64(GlobalAddr address, Loc = Loc::current()) const {
    uint64_t value;
    asm volatile("ld.global.nc.b64 %0, [%1];" : "=l"(value) : "l"(address.value));
    return value;
  }

  // ---- synchronisation between CTAs (PTX 8.8): by the lanes that are active
  SM100_KERNEL uint32_t ld_acquire_gpu_global_u32(GlobalAddr address, Loc = Loc::current()) const {
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address.value) : "memory");
    return value;
  }
  SM100_KERNEL void st_release_gpu_global_u32(GlobalAddr address, uint32_t value, Loc = Loc::current()) const {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address.value), "r"(value) : "memory");
  }
};

}  // namespace sm100::device
