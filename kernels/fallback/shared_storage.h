// SPDX-License-Identifier: Apache-2.0
/// Shared memory of the fallback kernel and the table of its barriers.
#pragma once

#include "kernels/fallback/config.h"
#include "kernels/pipeline/barrier_array.h"

namespace sm100 {

struct FallbackStorage {
  SmemTile a, b;
  SmemAddr tma;  ///< mbarrier: the tiles of a k step have arrived
  SmemAddr mma;  ///< mbarrier: the MMAs of a k step have finished
  SmemAddr tmem_address;
  uint32_t end = 0;  ///< first address past the storage

  template <class C, class Layout>
  SM100_HD static constexpr void place(FallbackStorage& s, const C& c, Layout& layout) {
    layout.tile(s.a, fallback_a_tile(c));
    layout.tile(s.b, fallback_b_tile(c));
    layout.barriers(s.tma, {.name = "tma",
                            .stages = 1,
                            .count = 1,
                            .arrives = "warp",
                            .arrives_with = "mbarrier.arrive.expect_tx",
                            .waits = "warp"});
    layout.barriers(s.mma, {.name = "mma",
                            .stages = 1,
                            .count = 1,
                            .arrives = "warp",
                            .arrives_with = "tcgen05.commit",
                            .waits = "warp"});
    layout.bytes(s.tmem_address, 4, 4);
  }
};

}  // namespace sm100
