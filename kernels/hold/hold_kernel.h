// SPDX-License-Identifier: Apache-2.0
/// The kernel that holds SMs: every thread steps a random-number generator and stores where it has come to.
#pragma once

#include "kernels/hold/config.h"
#include "kernels/hold/params.h"
#include "kernels/isa/isa.h"
#include "kernels/isa/trace.h"

namespace sm100 {

template <Isa I, class Config>
SM100_KERNEL void hold_kernel(I& isa, const Config&, const HoldParams& params) {
  const uint32_t cta = isa.ctaid().x;
  const LaneArray<uint32_t, 1> ids = isa.laneid();
  LaneArray<uint32_t, 1> x;
  {
    TraceSpan span{isa, TraceEvent::tile, {.tile_m = int(cta), .tile_n = 0}};
    isa.for_each_lane(1, [&](int lane) { x[lane][0] = cta * kHoldThreads + ids[lane][0] + 1; });
    for (int block = 0; block < params.blocks; ++block)
      isa.for_each_lane(kHoldBlockSteps * kHoldStepInstructions, [&](int lane) {
        for (int step = 0; step < kHoldBlockSteps; ++step) x[lane][0] = xorshift(x[lane][0]);
      });
  }
  LaneArray<bool, 1> all;
  isa.for_each_lane_address(1, [&](int lane) { all[lane][0] = true; });
  isa.st_global_b32(isa.mad_wide_u32(ids, 4, params.result + uint64_t(cta) * kHoldThreads * 4), x, all);
}

}  // namespace sm100
