// SPDX-License-Identifier: Apache-2.0
/// Layout of the kernel's shared memory, and the one table of its barriers: who arrives, how often, who
/// waits.
///
/// The kernel initialises the barriers from this table, and reports and traces take their names from it.
/// Tile arrays are 1024-byte aligned: UMMA descriptors with base offset 0 need whole 128B-swizzle atoms.
#pragma once

#include "kernels/epilogue/output_strip.h"
#include "kernels/isa/address.h"
#include "kernels/matmul/config.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "kernels/pipeline/smem_layout.h"
#include "kernels/scheduler/tile_scheduler.h"

namespace sm100 {

struct SharedStorage {
  SmemAddr a_tiles, b_tiles;   ///< stages tiles each
  SmemAddr c_strips;           ///< kOutputBuffers strips
  RingBarriers input;          ///< ring_stages
  RingBarriers accum;          ///< accum_stages
  SchedulerStorage scheduler;  ///< clc_stages
  SmemAddr tmem_dealloc;
  SmemAddr tmem_address;
  uint32_t end = 0;  ///< first address past the storage
};

/// @param base  start of the CTA's dynamic shared memory; carries the CTA's rank, as all its addresses do
template <class C>
SM100_HD constexpr SharedStorage shared_storage(const C& c, SmemAddr base = {kSmemUserBase}) {
  SmemLayout layout{base.value};
  SharedStorage s;
  s.a_tiles = layout.take(uint32_t(c.stages) * a_tile_bytes(c), 1024);
  s.b_tiles = layout.take(uint32_t(c.stages) * b_tile_bytes(c), 1024);
  s.c_strips = layout.take(kOutputBuffers * strip_bytes(c), 1024);
  s.input.full = layout.take_barriers(ring_stages(c));
  s.input.empty = layout.take_barriers(ring_stages(c));
  s.accum.full = layout.take_barriers(c.accum_stages);
  s.accum.empty = layout.take_barriers(c.accum_stages);
  s.scheduler.clc.full = layout.take_barriers(c.clc_stages);
  s.scheduler.clc.empty = layout.take_barriers(c.clc_stages);
  s.scheduler.throttle.full = layout.take_barriers(c.clc_stages);
  s.scheduler.throttle.empty = layout.take_barriers(c.clc_stages);
  s.scheduler.response = layout.take(kClcResponseBytes * uint32_t(c.clc_stages), 16);
  s.tmem_dealloc = layout.take_barriers(1);
  s.tmem_address = layout.take(4, 4);
  s.end = layout.next;
  return s;
}

/// Dynamic shared memory of a CTA in bytes.
template <class C>
SM100_HD constexpr uint32_t shared_storage_bytes(const C& c) {
  return shared_storage(c).end - kSmemUserBase;
}

/// Calls f(BarrierArray) for every array, in the order of their initialisation.
template <class C, class F>
SM100_HD constexpr void for_each_barrier_array(const C& c, const SharedStorage& s, F&& f) {
  const uint32_t ctas = uint32_t(cluster_size(c)), epilogue = uint32_t(kEpilogueThreads),
                 group = uint32_t(c.cta_group);
  f(BarrierArray{"input_full", s.input.full, ring_stages(c), 1, "load", "mbarrier.arrive.expect_tx", "mma"});
  // One commit of every leader whose MMAs read this CTA's tiles: its row and its column of the cluster.
  f(BarrierArray{"input_empty", s.input.empty, ring_stages(c),
                 uint32_t(c.cluster_m / c.cta_group + c.cluster_n - 1), "mma", "tcgen05.commit", "load"});
  f(BarrierArray{"accum_full", s.accum.full, c.accum_stages, 1, "mma", "tcgen05.commit", "epilogue"});
  f(BarrierArray{"accum_empty", s.accum.empty, c.accum_stages, group * epilogue, "epilogue", "mbarrier.arrive",
                 "mma"});
  f(BarrierArray{"clc_full", s.scheduler.clc.full, c.clc_stages, 1, "scheduler", "mbarrier.arrive.expect_tx",
                 "scheduler, load, mma, epilogue"});
  // Every thread that decodes a response releases it: the scheduler, and load, MMA and epilogue of each CTA.
  f(BarrierArray{"clc_empty", s.scheduler.clc.empty, c.clc_stages, 32 + ctas * (32 + 32 + epilogue),
                 "scheduler, load, mma, epilogue", "mbarrier.arrive", "scheduler"});
  f(BarrierArray{"throttle_full", s.scheduler.throttle.full, c.clc_stages, 32, "load", "mbarrier.arrive",
                 "scheduler"});
  f(BarrierArray{"throttle_empty", s.scheduler.throttle.empty, c.clc_stages, 32, "scheduler", "mbarrier.arrive",
                 "load"});
  f(BarrierArray{"tmem_dealloc", s.tmem_dealloc, 1, group * epilogue, "epilogue", "mbarrier.arrive", "mma"});
}

}  // namespace sm100
