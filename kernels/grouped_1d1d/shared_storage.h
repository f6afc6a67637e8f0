// SPDX-License-Identifier: Apache-2.0
/// The matmul's shared memory and barriers, and the ring of the scheduler warp where there is one.
#pragma once

#include "kernels/block_scaled/tiles.h"
#include "kernels/grouped_1d1d/work_ring.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100 {

/// @tparam Tiles  of a stage
template <class Tiles>
struct TokenStorage : MatmulStorage<Tiles> {
  WorkStorage work;  ///< work_stages

  template <class C, class Layout>
  SM100_HD static constexpr void place(TokenStorage& s, const C& c, Layout& layout) {
    MatmulStorage<Tiles>::place(s, c, layout);
    layout.barriers(s.work.ring.full, {.name = "work_full",
                                       .stages = c.work_stages,
                                       .count = 1,
                                       .arrives = "scheduler",
                                       .arrives_with = "mbarrier.arrive",
                                       .waits = "load, mma, epilogue"});
    layout.barriers(s.work.ring.empty, {.name = "work_empty",
                                        .stages = c.work_stages,
                                        .count = kWorkReaders,
                                        .arrives = "load, mma, epilogue",
                                        .arrives_with = "mbarrier.arrive",
                                        .waits = "scheduler"});
    layout.bytes(s.work.slots, kWorkSlotBytes * uint32_t(c.work_stages), 16);
  }
};

using Grouped1d1dStorage = TokenStorage<BlockScaledTiles>;

}  // namespace sm100
