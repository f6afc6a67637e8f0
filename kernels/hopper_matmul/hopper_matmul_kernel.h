// SPDX-License-Identifier: Apache-2.0
/// hopper_matmul: set-up, then the producer's registers go to the consumers, and one role per warp.
#pragma once

#include "kernels/hopper_matmul/consumer_warps.h"
#include "kernels/hopper_matmul/load_warp.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

template <Isa I, class Config>
SM100_KERNEL void hopper_matmul_kernel(I& isa, const Config& cfg, const HopperMatmulParams& params) {
  const HopperStorage smem = storage_at<HopperStorage>(cfg, isa.dynamic_smem());
  const int warp = isa.warpid();
  set_up_cluster(isa, cfg, smem, [&] { prefetch_tensormaps(isa, params.a, params.b, params.c); });

  // The CTAs of a cluster are one worker.
  const StaticWorkIterator work{isa, params.grid, cfg.raster_order, int(isa.ctaid().x) / cfg.cluster,
                                int(isa.nctaid().x) / cfg.cluster};
  if (warp < kWarpgroupWarps) {
    isa.template setmaxnreg_dec<kProducerRegisters>();
    if (warp == kHopperLoadWarp) hopper_load_warp(isa, cfg, smem, params, work);
  } else {
    isa.template setmaxnreg_inc<kConsumerRegisters>();
    // Each by itself: on the device its barriers and rows are constants.
    if (hopper_consumer(0).has(warp))
      hopper_consumer_warps(isa, cfg, smem, params, work, 0);
    else
      hopper_consumer_warps(isa, cfg, smem, params, work, 1);
  }
}

}  // namespace sm100
