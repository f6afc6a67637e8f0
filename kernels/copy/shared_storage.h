// SPDX-License-Identifier: Apache-2.0
/// Shared memory of pipeline_copy and the table of its barriers.
#pragma once

#include "kernels/copy/config.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/input_ring.h"

namespace sm100 {

/// The k tiles of a stage.
struct CopyTiles {
  TileArray slots;
  int group = 1;

  struct Stage {
    TileArray slots;  ///< the ring's
    int first;        ///< of them is ours

    SM100_HD constexpr SmemTile slot(int j) const { return slots[first + j]; }
  };
  SM100_HD constexpr Stage stage(int i) const { return {slots, i * group}; }
  SM100_HD constexpr uint32_t stage_bytes() const { return uint32_t(group) * slots.shape.bytes(); }
};

struct CopyStorage {
  CopyTiles tiles;     ///< stages slots
  TileArray strips;    ///< kOutputBuffers of them
  RingBarriers input;  ///< ring stages
  uint32_t end = 0;    ///< first address past the storage

  template <class C, class Layout>
  SM100_HD static constexpr void place(CopyStorage& s, const C& c, Layout& layout) {
    layout.tiles(s.tiles.slots, copy_tile(c), c.stages);
    s.tiles.group = c.k_group_size;
    layout.tiles(s.strips, copy_tile(c), kOutputBuffers);
    layout.barriers(s.input.full, {.name = "input_full",
                                   .stages = copy_ring_stages(c),
                                   .count = 1,
                                   .arrives = "load",
                                   .arrives_with = "mbarrier.arrive.expect_tx",
                                   .waits = "consumer"});
    // Every consumer warp of every CTA that shares the stage.
    layout.barriers(s.input.empty, {.name = "input_empty",
                                    .stages = copy_ring_stages(c),
                                    .count = uint32_t(copy_consumers().warps * copy_sharers(c)),
                                    .arrives = "consumer",
                                    .arrives_with = "mbarrier.arrive",
                                    .waits = "load"});
  }
};

}  // namespace sm100
