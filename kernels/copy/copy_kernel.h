// SPDX-License-Identifier: Apache-2.0
/// pipeline_copy: set-up, then one role per warp.  Warps 0-3 consume, warp 4 loads.  Only instructions of sm_90.
#pragma once

#include "kernels/copy/consumer_warp.h"
#include "kernels/copy/load_warp.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

template <Isa I, class Config>
SM100_KERNEL void copy_kernel(I& isa, const Config& cfg, const CopyParams& params) {
  const CopyStorage smem = storage_at<CopyStorage>(cfg, isa.dynamic_smem());
  const int warp = isa.warpid();
  set_up_cluster(isa, cfg, smem, [&] { prefetch_tensormaps(isa, params.source, params.destination); });

  // CTAs that share tiles are one worker.
  const int sharers = copy_sharers(cfg);
  const StaticWorkIterator work{isa, params.grid, cfg.raster_order, int(isa.ctaid().x) / sharers,
                                int(isa.nctaid().x) / sharers};
  if (copy_consumers().has(warp)) copy_consumer_warp(isa, cfg, smem, params, work);
  if (warp == kCopyLoadWarp) copy_load_warp(isa, cfg, smem, params, work);
}

}  // namespace sm100
