// SPDX-License-Identifier: Apache-2.0
/// The grouped 1D-2D matmul (MoE): tokens with a scale for each row and k block, multiplied with their expert's
/// weights, which have one for each block of both; grouped_1d1d's walk over groups with the blockwise matmul's
/// stages and sums in registers.
#pragma once

#include "kernels/blockwise/k_tile_scheduler.h"
#include "kernels/grouped_1d1d/grouped_roles.h"
#include "kernels/grouped_1d1d/shared_storage.h"
#include "kernels/grouped_1d2d/config.h"
#include "kernels/grouped_1d2d/grouped_sums_epilogue.h"
#include "kernels/grouped_1d2d/token_loader.h"

namespace sm100 {

using Grouped1d2dStorage = TokenStorage<BlockwiseTiles>;

struct Grouped1d2dParts {
  using Storage = Grouped1d2dStorage;

  template <Isa I>
  SM100_KERNEL static void prefetch(I& isa, const Grouped1d2dParams& params) {
    prefetch_tensormaps(isa, params.a, params.b, params.a_scales, params.c);
  }
  template <class C>
  SM100_HD static TokenLoader<C> loader(const C& cfg, const Grouped1d2dParams& params, const ClusterPlace& place) {
    return {cfg, params, place};
  }
  template <class C>
  SM100_HD static OperandMmas<C> issuer(const C& cfg) {
    return OperandMmas<C>{cfg};
  }
  template <class Scheduler>
  SM100_HD static KTileScheduler<Scheduler> work(Scheduler& scheduler) {
    return KTileScheduler<Scheduler>{scheduler};
  }
  template <Isa I, class Config, class Scheduler>
  SM100_KERNEL static void epilogue(I& isa, const Config& cfg, const WarpGroup& group, const Storage& smem,
                                    const Grouped1d2dParams& params, Scheduler& scheduler) {
    grouped_sums_epilogue_warp(isa, cfg, group, smem, params, scheduler);
  }
};

template <Isa I, class Config>
SM100_KERNEL void grouped_1d2d_kernel(I& isa, const Config& cfg, const Grouped1d2dParams& params) {
  run_grouped<Grouped1d2dParts>(isa, cfg, params);
}

}  // namespace sm100
