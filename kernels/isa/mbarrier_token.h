// SPDX-License-Identifier: Apache-2.0
/// The state that an arrival returns, 64 opaque bits in a register (PTX 9.7.13.15): a wait by state asks whether
/// the phase in which the arrival happened has completed.
///
/// The hardware's layout is not public and no code may depend on it.  Ours, of the simulator, is
///   31:0 the phase that was open   51:32 pending arrivals before this one   52 by a .noComplete form   63 one
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

struct MbarrierToken {
  uint64_t bits = 0;
  constexpr bool operator==(const MbarrierToken&) const = default;
};

/// @param phase  that was open, counted from 0
constexpr MbarrierToken make_mbarrier_token(int64_t phase, uint32_t pending, bool no_complete) {
  return {uint64_t{static_cast<uint32_t>(phase)} | uint64_t{pending & 0xfffff} << 32 | uint64_t{no_complete} << 52 |
          uint64_t{1} << 63};
}
/// False: no arrival has returned it.
constexpr bool is_mbarrier_token(MbarrierToken t) { return t.bits >> 63 == 1; }
constexpr int64_t phase_of(MbarrierToken t) { return static_cast<uint32_t>(t.bits); }
/// mbarrier.pending_count: arrivals that the phase still expected before this one.
constexpr uint32_t pending_count(MbarrierToken t) { return static_cast<uint32_t>(t.bits >> 32) & 0xfffff; }
/// pending_count takes states of .noComplete forms only (MB7).
constexpr bool by_no_complete(MbarrierToken t) { return t.bits >> 52 & 1; }

}  // namespace sm100
