// SPDX-License-Identifier: Apache-2.0
/// What kernels begin with: tensor maps fetched, barriers initialised from their table, and the cluster told.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/pipeline/smem_layout.h"

namespace sm100 {

/// One lane.
template <Isa I, class... Maps>
SM100_KERNEL void prefetch_tensormaps(I& isa, const Maps&... maps) {
  (isa.prefetch_tensormap(&maps), ...);
}

/// One lane: the barriers of this CTA.
template <Isa I, class Config, class Storage>
SM100_KERNEL void init_barriers(I& isa, const Config& cfg, const Storage& smem) {
  for_each_barrier_array(cfg, smem, [&](const BarrierArray& array) { init_barrier_array(isa, array); });
}

/// All warps of all CTAs of the cluster: nobody goes on before everybody has come.
template <Isa I>
SM100_KERNEL void meet_cluster(I& isa, Loc loc = Loc::current()) {
  isa.barrier_cluster_arrive(loc);
  isa.barrier_cluster_wait(loc);
}

/// All warps: barriers initialised in all CTAs of the cluster.  A remote arrival or a multicast copy must not reach
/// a CTA before.
/// @param prefetch  fetches the kernel's tensor maps; one lane
template <Isa I, class Config, class Storage, class F>
SM100_KERNEL void set_up_cluster(I& isa, const Config& cfg, const Storage& smem, F&& prefetch,
                                 Loc loc = Loc::current()) {
  TraceSpan span{isa, TraceEvent::setup};
  if (isa.warpid() == 0) {
    isa.elected([&] {
      prefetch();
      init_barriers(isa, cfg, smem);
    });
  }
  isa.fence_mbarrier_init();
  meet_cluster(isa, loc);
}

}  // namespace sm100
