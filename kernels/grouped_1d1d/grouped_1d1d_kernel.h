// SPDX-License-Identifier: Apache-2.0
/// The grouped 1D-1D matmul (MoE): the tokens of all experts in rows of one tensor, multiplied with their expert's
/// weights; the block-scaled matmul's stages and MMAs with a walk over groups, a loader and an epilogue of its own.
#pragma once

#include "kernels/block_scaled/scaled_mmas.h"
#include "kernels/grouped_1d1d/grouped_epilogue.h"
#include "kernels/grouped_1d1d/grouped_roles.h"
#include "kernels/grouped_1d1d/moe_loader.h"
#include "kernels/grouped_1d1d/shared_storage.h"

namespace sm100 {

struct Grouped1d1dParts {
  using Storage = Grouped1d1dStorage;

  template <Isa I>
  SM100_KERNEL static void prefetch(I& isa, const Grouped1d1dParams& params) {
    prefetch_tensormaps(isa, params.a, params.b, params.sfa, params.sfb, params.c);
  }
  template <class C>
  SM100_HD static MoeLoader<C> loader(const C& cfg, const Grouped1d1dParams& params, const ClusterPlace& place) {
    return {cfg, params, place};
  }
  template <class C>
  SM100_HD static ScaledMmas<C> issuer(const C& cfg) {
    return ScaledMmas<C>{cfg};
  }
  template <class Scheduler>
  SM100_HD static Scheduler& work(Scheduler& scheduler) {
    return scheduler;
  }
  template <Isa I, class Config, class Scheduler>
  SM100_KERNEL static void epilogue(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                    const Grouped1d1dParams& params, Scheduler& scheduler) {
    grouped_epilogue_warp(isa, cfg, group, smem, params, scheduler);
  }
};

template <Isa I, class Config>
SM100_KERNEL void grouped_1d1d_kernel(I& isa, const Config& cfg, const Grouped1d1dParams& params) {
  run_grouped<Grouped1d1dParts>(isa, cfg, params);
}

}  // namespace sm100
