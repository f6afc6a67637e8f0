// SPDX-License-Identifier: Apache-2.0
/// setmaxnreg (PTX, Miscellaneous Instructions).  Without a register limit for the kernel (__launch_bounds__ with a
/// minimum of blocks, or __maxnreg__) ptxas drops it with warning C7508.
#pragma once

#include "kernels/isa/register_count.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

class Registers {
 public:
  /// By all warps of a warpgroup; waits until the CTA's pool has enough.  What the new registers hold is undefined.
  template <int N>
  SM100_KERNEL void setmaxnreg_inc(Loc = Loc::current()) const {
    static_assert(register_count_allowed(N), "setmaxnreg takes multiples of 8 from 24 to 256");
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N) : "memory");
  }
  /// By all warps of a warpgroup; what they have above N goes to the CTA's pool.
  template <int N>
  SM100_KERNEL void setmaxnreg_dec(Loc = Loc::current()) const {
    static_assert(register_count_allowed(N), "setmaxnreg takes multiples of 8 from 24 to 256");
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N) : "memory");
  }
};

}  // namespace sm100::device
