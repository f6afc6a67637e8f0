// SPDX-License-Identifier: Apache-2.0
/// pipeline_copy: set-up, then one role per warp.  Warps 0-3 consume, warp 4 loads.  Only instructions of sm_90.
#pragma once

#include "kernels/copy/consumer_warp.h"
#include "kernels/copy/load_warp.h"

namespace sm100 {

template <Isa I, class Config>
SM100_KERNEL void copy_kernel(I& isa, const Config& cfg, const CopyParams& params) {
  const CopyStorage smem = copy_storage(cfg, isa.dynamic_smem());
  const int warp = isa.warpid();
  {
    TraceSpan span{isa, TraceEvent::setup};
    if (warp == 0) {
      isa.elected([&] {
        isa.prefetch_tensormap(&params.source);
        isa.prefetch_tensormap(&params.destination);
        for_each_barrier_array(cfg, smem, [&](const BarrierArray& array) { init_barrier_array(isa, array); });
      });
    }
    isa.fence_mbarrier_init();
    // A remote arrival or a multicast copy must not reach a CTA before it has initialised its barriers.
    isa.barrier_cluster_arrive();
    isa.barrier_cluster_wait();
  }

  // CTAs that share tiles are one worker.
  const int sharers = copy_sharers(cfg);
  const StaticWorkIterator work{params.grid, cfg.raster_order, int(isa.ctaid().x) / sharers,
                                int(isa.nctaid().x) / sharers};
  if (warp < kCopyConsumerWarps) copy_consumer_warp(isa, cfg, smem, params, work);
  if (warp == kCopyLoadWarp) copy_load_warp(isa, cfg, smem, params, work);
}

}  // namespace sm100
