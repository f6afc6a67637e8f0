// SPDX-License-Identifier: Apache-2.0
/// The grouped 1D-1D matmul (MoE): the tokens of all experts in rows of one tensor, multiplied with their expert's
/// weights; the block-scaled matmul's stages and MMAs with a walk over groups, a loader and an epilogue of its own.
///
/// Warps as in the matmul.  Without a ring the scheduler warp ends at once.
#pragma once

#include "kernels/block_scaled/scaled_mmas.h"
#include "kernels/grouped_1d1d/grouped_epilogue.h"
#include "kernels/grouped_1d1d/moe_loader.h"
#include "kernels/grouped_1d1d/shared_storage.h"
#include "kernels/matmul/load_warp.h"
#include "kernels/matmul/mma_warp.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

template <Isa I, class Config, class Scheduler>
SM100_KERNEL void grouped_roles(I& isa, const Config& cfg, const Grouped1d1dStorage& smem,
                                const Grouped1d1dParams& params, Scheduler scheduler) {
  // Every role reads which tiles there are, or writes what the kernel ahead may still read.
  if (cfg.pdl) isa.griddepcontrol_wait();
  const int warp = isa.warpid();
  if (epilogue_group().has(warp)) grouped_epilogue_warp(isa, cfg, epilogue_group(), smem, params, scheduler);
  if constexpr (Scheduler::kPublishes) {
    if (warp == kSchedulerWarp) scheduler.publish();
  }
  if (warp == kLoadWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    load_warp(isa, cfg, input_ring(isa, cfg, smem, place), MoeLoader<Config>{cfg, params, place}, scheduler);
  }
  if (warp == kMmaWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    mma_warp(isa, cfg, smem, place, input_ring(isa, cfg, smem, place), ScaledMmas<Config>{cfg}, scheduler);
  }
}

template <Isa I, class Config>
SM100_KERNEL void grouped_1d1d_kernel(I& isa, const Config& cfg, const Grouped1d1dParams& params) {
  const auto smem = storage_at<Grouped1d1dStorage>(cfg, isa.dynamic_smem());
  set_up_cluster(isa, cfg, smem,
                 [&] { prefetch_tensormaps(isa, params.a, params.b, params.sfa, params.sfb, params.c); });
  if (cfg.work_stages > 0)
    grouped_roles(isa, cfg, smem, params, WorkRing{isa, cfg, params, smem.work});
  else
    grouped_roles(isa, cfg, smem, params, ReplayedWalk{isa, cfg, params});
}

}  // namespace sm100
