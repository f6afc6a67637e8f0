// SPDX-License-Identifier: Apache-2.0
/// A kernel of our own, written against the seam (kernels/isa/isa.h) alone: warp 0 loads tiles of a matrix by TMA into a ring
/// of two stages, warp 1 stores them somewhere else.  One CTA, one column of tiles.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/tensor_map.h"

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

template <Isa I>
SM100_KERNEL void wait(I& isa, SmemAddr barrier, uint32_t parity,
                       Loc loc = Loc::current()) {  // reports name the caller's line
  while (!isa.mbarrier_try_wait_parity(barrier, parity, Scope::cta, loc)) {}
}

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
    const uint32_t stage = uint32_t(i) % kStages, lap = uint32_t(i) / kStages;
    const SmemAddr tile = smem.tiles + stage * kTileBytes, full = smem.full + 8 * stage,
                   empty = smem.empty + 8 * stage;
    if (isa.warpid() == 0) {
      if (!cfg.forgets_wait) wait(isa, empty, (lap & 1) ^ 1);  // a fresh barrier counts as released
      isa.elected([&] {
        isa.mbarrier_arrive_expect_tx(full, kTileBytes, Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(tile, &params.source, TensorCoords{0, i * kRows}, full);
      });
    } else {
      wait(isa, full, lap & 1);
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
