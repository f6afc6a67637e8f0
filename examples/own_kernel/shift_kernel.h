// SPDX-License-Identifier: Apache-2.0
/// A kernel of our own, written against the seam (kernels/isa/isa.h): warp 0 loads tiles of a matrix by TMA into a
/// ring of two stages, warp 1 stores them somewhere else.  One CTA, one column of tiles.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/tensor_map.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"

namespace own {

using namespace sm100;

struct ShiftConfig {
  int tiles = 8;             ///< of kRows x kColumns elements, one below the other
  bool forgets_wait = true;  ///< the bug: the load warp does not wait until a stage is free
};
struct ShiftParams {
  TensorMap source, destination;
};

inline constexpr int kRows = 64, kColumns = 64, kStages = 2;
inline constexpr uint32_t kTileBytes = kRows * kColumns * 2;  // bf16
struct ShiftStorage {                                         // of the CTA's dynamic shared memory
  SmemAddr tiles{kSmemUserBase};
  SmemAddr full{kSmemUserBase + kStages * kTileBytes};
  SmemAddr empty{kSmemUserBase + kStages * kTileBytes + 8 * kStages};
};
inline constexpr uint32_t kSmemBytes = kStages * kTileBytes + 16 * kStages;

template <Isa I, class Config>
SM100_KERNEL void shift_kernel(I& isa, const Config& cfg, const ShiftParams& params) {
  const ShiftStorage smem;
  if (isa.warpid() == 0) {
    isa.elected([&] {
      for (uint32_t s = 0; s < kStages; ++s)
        isa.mbarrier_init(smem.full + 8 * s, 1), isa.mbarrier_init(smem.empty + 8 * s, 1);
    });
    isa.fence_mbarrier_init();
  }
  isa.bar_sync(0, 64);
  for (int i = 0; i < cfg.tiles; ++i) {
    const int stage = i % kStages, lap = i / kStages;
    const uint32_t parity = uint32_t(lap) & 1, at = 8 * uint32_t(stage);
    const SmemAddr tile = smem.tiles + uint32_t(stage) * kTileBytes, full = smem.full + at, empty = smem.empty + at;
    if (isa.warpid() == 0) {
      if (!cfg.forgets_wait)  // a fresh barrier counts as released
        mbarrier_wait(isa, empty, parity ^ 1, Scope::cta, {.barrier = empty, .stage = stage, .phase = lap - 1},
                      Loc::current());
      TraceSpan span{isa, TraceEvent::load_issue, {.stage = stage, .k = i}};
      isa.elected([&] {
        isa.mbarrier_arrive_expect_tx(full, kTileBytes, Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(tile, &params.source, TensorCoords{0, i * kRows}, full);
      });
    } else {
      mbarrier_wait(isa, full, parity, Scope::cta, {.barrier = full, .stage = stage, .phase = lap}, Loc::current());
      TraceSpan span{isa, TraceEvent::store_issue, {.stage = stage, .k = i}};
      isa.elected([&] {
        isa.cp_async_bulk_tensor_global_shared(&params.destination, TensorCoords{0, i * kRows}, tile);
        isa.cp_async_bulk_commit_group();
        isa.template cp_async_bulk_wait_group_read<0>();
        isa.mbarrier_arrive(empty, Scope::cta);
      });
    }
  }
}

}  // namespace own
