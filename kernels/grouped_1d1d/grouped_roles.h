// SPDX-License-Identifier: Apache-2.0
/// Set-up and roles of a kernel whose tiles are those of groups of tokens: one role per warp, as in the matmul.
///
/// Without a ring the scheduler warp ends at once.
#pragma once

#include "kernels/grouped_1d1d/group_walk.h"
#include "kernels/grouped_1d1d/work_ring.h"
#include "kernels/matmul/load_warp.h"
#include "kernels/matmul/mma_warp.h"
#include "kernels/pipeline/set_up.h"

namespace sm100 {

/// `Parts` is what a kernel brings to the roles: storage, loader, issuer, what the MMA warp works on, and the
/// epilogue, by the names of DenseParts (kernels/matmul/matmul_kernel.h).
template <class Parts, Isa I, class Config, class Storage, class Params, class Scheduler>
SM100_KERNEL void grouped_roles(I& isa, const Config& cfg, const Storage& smem, const Params& params,
                                Scheduler scheduler) {
  // Every role reads which tiles there are, or writes what the kernel ahead may still read.
  if (cfg.pdl) isa.griddepcontrol_wait();
  const int warp = isa.warpid();
  if (epilogue_group().has(warp)) Parts::epilogue(isa, cfg, epilogue_group(), smem, params, scheduler);
  if constexpr (Scheduler::kPublishes) {
    if (warp == kSchedulerWarp) scheduler.publish();
  }
  if (warp == kLoadWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    load_warp(isa, cfg, input_ring(isa, cfg, smem, place), Parts::loader(cfg, params, place), scheduler);
  }
  if (warp == kMmaWarp) {
    const ClusterPlace place = own_place(isa, cfg);
    mma_warp(isa, cfg, smem, place, input_ring(isa, cfg, smem, place), Parts::issuer(cfg), Parts::work(scheduler));
  }
}

template <class Parts, Isa I, class Config, class Params>
SM100_KERNEL void run_grouped(I& isa, const Config& cfg, const Params& params) {
  const auto smem = storage_at<typename Parts::Storage>(cfg, isa.dynamic_smem());
  set_up_cluster(isa, cfg, smem, [&] { Parts::prefetch(isa, params); });
  if (cfg.work_stages > 0)
    grouped_roles<Parts>(isa, cfg, smem, params, WorkRing{isa, cfg, params, smem.work});
  else
    grouped_roles<Parts>(isa, cfg, smem, params, ReplayedWalk{isa, cfg, params});
}

}  // namespace sm100
