// SPDX-License-Identifier: Apache-2.0
/// Shared memory of the direct kernel and the table of its barriers.
#pragma once

#include "kernels/direct/config.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/input_ring.h"

namespace sm100 {

struct DirectStorage {
  OperandTiles tiles;  ///< stages tiles of A and of B
  RingBarriers input;  ///< stages
  RingBarriers accum;  ///< accum_stages; empty only where CTAs are persistent
  SmemAddr tmem_address;
  uint32_t end = 0;  ///< first address past the storage

  template <class C, class Layout>
  SM100_HD static constexpr void place(DirectStorage& s, const C& c, Layout& layout) {
    const bool one = c.roles == DirectRoles::one_thread;
    const char *load = one ? "main" : "load", *mma = one ? "main" : "mma";
    layout.tiles(s.tiles.a, direct_a_tile(c), c.stages);
    layout.tiles(s.tiles.b, direct_b_tile(c), c.stages);
    // Of a pair, each CTA announces its own bytes on the first one's barrier.
    layout.barriers(s.input.full, {.name = "input_full",
                                   .stages = c.stages,
                                   .count = uint32_t(c.cta_group),
                                   .arrives = load,
                                   .arrives_with = "mbarrier.arrive.expect_tx",
                                   .waits = mma});
    layout.barriers(s.input.empty, {.name = "input_empty",
                                    .stages = c.stages,
                                    .count = 1,
                                    .arrives = mma,
                                    .arrives_with = "tcgen05.commit",
                                    .waits = load});
    const bool persistent = is_persistent(c);
    layout.barriers(s.accum.full, {.name = "accum_full",
                                   .stages = c.accum_stages,
                                   .count = 1,
                                   .arrives = mma,
                                   .arrives_with = "tcgen05.commit",
                                   .waits = persistent ? "epilogue"
                                            : one      ? "main, epilogue"
                                                       : "load, mma, epilogue"});
    if (persistent)
      layout.barriers(s.accum.empty, {.name = "accum_empty",
                                      .stages = c.accum_stages,
                                      .count = uint32_t(kDirectEpilogueWarps * c.cta_group),
                                      .arrives = "epilogue",
                                      .arrives_with = "mbarrier.arrive",
                                      .waits = mma});
    layout.bytes(s.tmem_address, 4, 4);
  }
};

}  // namespace sm100
