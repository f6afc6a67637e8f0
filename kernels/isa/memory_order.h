// SPDX-License-Identifier: Apache-2.0
/// What loads, stores and atomics of global memory say of order (PTX 8.2, 8.5), and of what L2 should keep
/// (PTX 9.7.9.2, createpolicy).
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

enum class MemorySem : uint8_t { relaxed, acquire, release, acq_rel };
enum class MemoryScope : uint8_t { cta, cluster, gpu, sys };

SM100_HD constexpr bool acquires(MemorySem sem) { return sem == MemorySem::acquire || sem == MemorySem::acq_rel; }
SM100_HD constexpr bool releases(MemorySem sem) { return sem == MemorySem::release || sem == MemorySem::acq_rel; }

/// The operand of .L2::cache_hint; a hint, which changes no state.  0: the instruction goes without.
struct L2CachePolicy {
  uint64_t bits = 0;
  constexpr bool operator==(const L2CachePolicy&) const = default;
};
/// What CUTLASS passes (TMA::CacheHintSm100).
inline constexpr L2CachePolicy kEvictNormal{0x1000000000000000}, kEvictFirst{0x12f0000000000000},
    kEvictLast{0x14f0000000000000};

}  // namespace sm100
