// SPDX-License-Identifier: Apache-2.0
/// Layout of the kernel's shared memory, and the one table of its barriers: who arrives, how often, who
/// waits.
///
/// The kernel initialises the barriers from this table, and reports and traces take their names from it.
#pragma once

#include "kernels/epilogue/output_strip.h"
#include "kernels/isa/address.h"
#include "kernels/matmul/config.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/input_ring.h"
#include "kernels/pipeline/smem_layout.h"
#include "kernels/scheduler/clc_scheduler.h"

namespace sm100 {

/// Where the tiles of the input ring lie; a kernel with other tiles has its own.
template <class C, class Layout>
SM100_HD constexpr void place_tiles(OperandTiles& tiles, const C& c, Layout& layout) {
  layout.tiles(tiles.a, a_tile(c), c.stages);
  layout.tiles(tiles.b, b_tile(c), c.stages);
  tiles.group = c.k_group_size;
}

template <class Tiles>
struct MatmulStorage {
  Tiles tiles;           ///< of `stages` slots
  SmemAddr c_strips;     ///< kOutputBuffers strips
  RingBarriers input;    ///< ring_stages
  RingBarriers accum;    ///< accum_stages
  ClcStorage scheduler;  ///< clc_stages
  SmemAddr tmem_dealloc;
  SmemAddr tmem_address;
  uint32_t end = 0;  ///< first address past the storage

  template <class C, class Layout>
  SM100_HD static constexpr void place(MatmulStorage& s, const C& c, Layout& layout) {
    const uint32_t ctas = uint32_t(cluster_size(c)), epilogue = uint32_t(epilogue_group().threads()),
                   group = uint32_t(c.cta_group);
    place_tiles(s.tiles, c, layout);
    layout.bytes(s.c_strips, kOutputBuffers * strip_bytes(c), 1024);
    layout.barriers(s.input.full, {.name = "input_full",
                                   .stages = ring_stages(c),
                                   .count = 1,
                                   .arrives = "load",
                                   .arrives_with = "mbarrier.arrive.expect_tx",
                                   .waits = "mma"});
    // One commit of every leader whose MMAs read this CTA's tiles: its row and its column of the cluster.
    const uint32_t commits = uint32_t(c.cluster_m / c.cta_group + c.cluster_n - 1),
                   arrivals = uint32_t(epilogue_arrivals_per_stage(c));
    layout.barriers(s.input.empty,
                    {.name = "input_empty",
                     .stages = ring_stages(c),
                     .count = commits + arrivals,
                     .arrives = arrivals ? "mma, epilogue" : "mma",
                     .arrives_with = arrivals ? "tcgen05.commit, fenced mbarrier.arrive" : "tcgen05.commit",
                     .waits = "load"});
    layout.barriers(s.accum.full, {.name = "accum_full",
                                   .stages = c.accum_stages,
                                   .count = 1,
                                   .arrives = "mma",
                                   .arrives_with = "tcgen05.commit",
                                   .waits = "epilogue"});
    layout.barriers(s.accum.empty, {.name = "accum_empty",
                                    .stages = c.accum_stages,
                                    .count = group * epilogue,
                                    .arrives = "epilogue",
                                    .arrives_with = "mbarrier.arrive",
                                    .waits = "mma"});
    layout.barriers(s.scheduler.clc.full, {.name = "clc_full",
                                           .stages = c.clc_stages,
                                           .count = 1,
                                           .arrives = "scheduler",
                                           .arrives_with = "mbarrier.arrive.expect_tx",
                                           .waits = tile_readers(c)});
    // Every thread that decodes a response releases it: the scheduler, and load, MMA, epilogue and others of each
    // CTA.
    layout.barriers(s.scheduler.clc.empty, {.name = "clc_empty",
                                            .stages = c.clc_stages,
                                            .count = 32 + ctas * (32 + 32 + epilogue + other_tile_readers(c)),
                                            .arrives = tile_readers(c),
                                            .arrives_with = "mbarrier.arrive",
                                            .waits = "scheduler"});
    layout.barriers(s.scheduler.throttle.full, {.name = "throttle_full",
                                                .stages = c.clc_stages,
                                                .count = 32,
                                                .arrives = "load",
                                                .arrives_with = "mbarrier.arrive",
                                                .waits = "scheduler"});
    layout.barriers(s.scheduler.throttle.empty, {.name = "throttle_empty",
                                                 .stages = c.clc_stages,
                                                 .count = 32,
                                                 .arrives = "scheduler",
                                                 .arrives_with = "mbarrier.arrive",
                                                 .waits = "load"});
    layout.bytes(s.scheduler.response, kClcResponseBytes * uint32_t(c.clc_stages), 16);
    layout.barriers(s.tmem_dealloc, {.name = "tmem_dealloc",
                                     .stages = 1,
                                     .count = group * epilogue,
                                     .arrives = "epilogue",
                                     .arrives_with = "mbarrier.arrive",
                                     .waits = "mma"});
    layout.bytes(s.tmem_address, 4, 4);
  }
};

using SharedStorage = MatmulStorage<OperandTiles>;  ///< of the dense matmul

}  // namespace sm100
