// SPDX-License-Identifier: Apache-2.0
/// Generic accesses to shared memory (PTX 9.7.9.8, .11) and stmatrix (9.7.15).
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

/// The CTA's dynamic shared memory.  1024: UMMA and TMA tiles are laid out in whole 128B-swizzle atoms.
extern __shared__ __align__(1024) uint8_t dynamic_smem_bytes[];

class SharedMemory {
 public:
  /// The address carries the CTA's rank, as all its shared addresses do (address.h).
  SM100_KERNEL SmemAddr dynamic_smem() const { return {uint32_t(__cvta_generic_to_shared(dynamic_smem_bytes))}; }

  SM100_KERNEL uint32_t ld_shared_u32(SmemAddr address, Loc = Loc::current()) const {
    uint32_t value;
    asm volatile("ld.shared::cta.u32 %0, [%1];" : "=r"(value) : "r"(address.value) : "memory");
    return value;
  }
  /// The same 16 bytes as ld.shared.b128, in two registers that C++ can name.
  SM100_KERNEL ClcResponse ld_shared_b128(SmemAddr address, Loc = Loc::current()) const {
    ClcResponse response;
    asm volatile("ld.shared::cta.v2.b64 {%0, %1}, [%2];"
                 : "=l"(response.lo), "=l"(response.hi)
                 : "r"(address.value)
                 : "memory");
    return response;
  }
  SM100_KERNEL LaneArray<uint32_t, 4> ld_shared_v4(const LaneArray<SmemAddr, 1>& addresses,
                                                   Loc = Loc::current()) const {
    LaneArray<uint32_t, 4> values;
    auto& v = values[0];
    asm volatile("ld.shared::cta.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(addresses[0][0].value)
                 : "memory");
    return values;
  }
  SM100_KERNEL LaneArray<uint32_t, 1> ld_shared_b32(const LaneArray<SmemAddr, 1>& addresses,
                                                    Loc = Loc::current()) const {
    LaneArray<uint32_t, 1> value;
    asm volatile("ld.shared::cta.b32 %0, [%1];" : "=r"(value[0][0]) : "r"(addresses[0][0].value) : "memory");
    return value;
  }
  /// The upper half is 0.
  SM100_KERNEL LaneArray<uint32_t, 1> ld_shared_b16(const LaneArray<SmemAddr, 1>& addresses,
                                                    Loc = Loc::current()) const {
    uint16_t half;
    asm volatile("ld.shared::cta.b16 %0, [%1];" : "=h"(half) : "r"(addresses[0][0].value) : "memory");
    LaneArray<uint32_t, 1> value;
    value[0][0] = half;
    return value;
  }
  SM100_KERNEL void st_shared_b16(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                                  Loc = Loc::current()) const {
    asm volatile("st.shared::cta.b16 [%0], %1;" ::"r"(addresses[0][0].value), "h"(uint16_t(values[0][0]))
                 : "memory");
  }
  SM100_KERNEL void st_shared_b32(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 1>& values,
                                  Loc = Loc::current()) const {
    asm volatile("st.shared::cta.b32 [%0], %1;" ::"r"(addresses[0][0].value), "r"(values[0][0]) : "memory");
  }
  SM100_KERNEL void st_shared_v2(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 2>& values,
                                 Loc = Loc::current()) const {
    const auto& v = values[0];
    asm volatile("st.shared::cta.v2.b32 [%0], {%1, %2};" ::"r"(addresses[0][0].value), "r"(v[0]), "r"(v[1])
                 : "memory");
  }
  SM100_KERNEL void st_shared_v4(const LaneArray<SmemAddr, 1>& addresses, const LaneArray<uint32_t, 4>& values,
                                 Loc = Loc::current()) const {
    const auto& v = values[0];
    asm volatile("st.shared::cta.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addresses[0][0].value), "r"(v[0]), "r"(v[1]),
                 "r"(v[2]), "r"(v[3])
                 : "memory");
  }
  SM100_KERNEL void st_shared_b128(SmemAddr address, const ClcResponse& value, Loc = Loc::current()) const {
    asm volatile("st.shared::cta.v2.b64 [%0], {%1, %2};" ::"r"(address.value), "l"(value.lo), "l"(value.hi)
                 : "memory");
  }
  SM100_KERNEL void st_shared_v4(SmemAddr address, const UniformWords<4>& v, Loc = Loc::current()) const {
    asm volatile("st.shared::cta.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address.value), "r"(v.w[0]), "r"(v.w[1]),
                 "r"(v.w[2]), "r"(v.w[3])
                 : "memory");
  }
  /// Lanes 0-15 give the row addresses of two 8x8 matrices.
  SM100_KERNEL void stmatrix_x2(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 2>& values,
                                Loc = Loc::current()) const {
    const auto& v = values[0];
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], {%1, %2};" ::"r"(rows[0][0].value), "r"(v[0]),
                 "r"(v[1])
                 : "memory");
  }
  SM100_KERNEL void stmatrix_x4(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 4>& values,
                                Loc = Loc::current()) const {
    const auto& v = values[0];
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(rows[0][0].value),
                 "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
  }
  SM100_KERNEL void stmatrix_x2_trans(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 2>& values,
                                      Loc = Loc::current()) const {
    const auto& v = values[0];
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};" ::"r"(rows[0][0].value),
                 "r"(v[0]), "r"(v[1])
                 : "memory");
  }
  SM100_KERNEL void stmatrix_x4_trans(const LaneArray<SmemAddr, 1>& rows, const LaneArray<uint32_t, 4>& values,
                                      Loc = Loc::current()) const {
    const auto& v = values[0];
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(rows[0][0].value),
        "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
        : "memory");
  }
};

}  // namespace sm100::device
