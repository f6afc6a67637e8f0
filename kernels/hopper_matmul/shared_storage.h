// SPDX-License-Identifier: Apache-2.0
/// Shared memory of hopper_matmul and the table of its barriers.
#pragma once

#include "kernels/hopper_matmul/config.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/input_ring.h"

namespace sm100 {

struct HopperStorage {
  OperandTiles tiles;  ///< a stage has a k tile of A and one of B
  TileArray strips;    ///< kOutputBuffers of each consumer
  RingBarriers input;
  uint32_t end = 0;  ///< first address past the storage

  template <class C, class Layout>
  SM100_HD static constexpr void place(HopperStorage& s, const C& c, Layout& layout) {
    layout.tiles(s.tiles.a, hopper_a_tile(c), c.stages);
    layout.tiles(s.tiles.b, hopper_b_tile(c), c.stages);
    layout.tiles(s.strips, hopper_strip(c), kHopperConsumers * kOutputBuffers);
    layout.barriers(s.input.full, {.name = "input_full",
                                   .stages = c.stages,
                                   .count = 1,
                                   .arrives = "load",
                                   .arrives_with = "mbarrier.arrive.expect_tx",
                                   .waits = "consumer"});
    // Every reading warp of every CTA that B's tile goes to.
    layout.barriers(s.input.empty, {.name = "input_empty",
                                    .stages = c.stages,
                                    .count = uint32_t(hopper_readers(c) * c.cluster),
                                    .arrives = "consumer",
                                    .arrives_with = "mbarrier.arrive",
                                    .waits = "load"});
  }
};

}  // namespace sm100
