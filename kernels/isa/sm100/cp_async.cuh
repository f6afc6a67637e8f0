// SPDX-License-Identifier: Apache-2.0
/// Copies of threads from global to shared memory, not bulk (PTX 9.7.9.25.3): 16 bytes a lane, and what says that
/// they have landed.  They write through the generic proxy.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

class CpAsync {
 public:
  SM100_KERNEL void cp_async_cg_shared_global(const LaneArray<SmemAddr, 1>& dst,
                                              const LaneArray<GlobalAddr, 1>& src, Loc = Loc::current()) const {
    asm volatile("cp.async.cg.shared::cta.global [%0], [%1], 16;" ::"r"(dst[0][0].value), "l"(src[0][0].value)
                 : "memory");
  }
  SM100_KERNEL void cp_async_commit_group(Loc = Loc::current()) const {
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  template <int N>
  SM100_KERNEL void cp_async_wait_group(Loc = Loc::current()) const {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
  }
  /// Raises the pending count now and arrives once this thread's copies have landed: no arrival in the end.
  SM100_KERNEL void cp_async_mbarrier_arrive(SmemAddr barrier, Loc = Loc::current()) const {
    asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(barrier.value) : "memory");
  }
  /// The same without raising: one of the arrivals that init counts.
  SM100_KERNEL void cp_async_mbarrier_arrive_noinc(SmemAddr barrier, Loc = Loc::current()) const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier.value) : "memory");
  }
};

}  // namespace sm100::device
