// SPDX-License-Identifier: Apache-2.0
/// Rows of a kernel's barrier tables: who arrives, how often, who waits.
///
/// A kernel initialises its mbarriers from its table, and reports and traces take their names from it.
#pragma once

#include "kernels/isa/isa.h"

namespace sm100 {

/// `stages` mbarriers, one after the other.
struct BarrierArray {
  const char* name;
  SmemAddr base{};
  int stages;
  uint32_t count;            ///< arrivals per phase
  const char* arrives;       ///< role (or unit) that arrives
  const char* arrives_with;  ///< instruction of the arrival
  const char* waits;         ///< roles that wait
};

/// A named barrier (bar.sync, bar.arrive) of a CTA and the warps that meet there.
struct NamedBarrier {
  int id;
  const char* name;
  const char* roles;  ///< all of whose warps come, each generation: their threads are its count
};

template <Isa I>
SM100_KERNEL void init_barrier_array(I& isa, const BarrierArray& array) {
  for (int s = 0; s < array.stages; ++s) isa.mbarrier_init(array.base + 8u * uint32_t(s), array.count);
}

}  // namespace sm100
