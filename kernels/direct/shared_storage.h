// SPDX-License-Identifier: Apache-2.0
/// Shared memory of the direct kernel and the table of its barriers.  Tiles are 1024-byte aligned: UMMA descriptors
/// with base offset 0 need whole 128B-swizzle atoms.
#pragma once

#include "kernels/direct/config.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"

namespace sm100 {

struct DirectStorage {
  SmemAddr a_tiles, b_tiles;  ///< stages tiles each
  RingBarriers input;         ///< stages
  SmemAddr accum_full;
  SmemAddr tmem_address;
  uint32_t end = 0;  ///< first address past the storage
};

/// @param base  start of the CTA's dynamic shared memory; carries the CTA's rank, as all its addresses do
template <class C>
SM100_HD constexpr DirectStorage direct_storage(const C& c, SmemAddr base = {kSmemUserBase}) {
  SmemLayout layout{base.value};
  DirectStorage s;
  s.a_tiles = layout.take(uint32_t(c.stages) * direct_a_bytes(c), 1024);
  s.b_tiles = layout.take(uint32_t(c.stages) * direct_b_bytes(c), 1024);
  s.input.full = layout.take_barriers(c.stages);
  s.input.empty = layout.take_barriers(c.stages);
  s.accum_full = layout.take_barriers(1);
  s.tmem_address = layout.take(4, 4);
  s.end = layout.next;
  return s;
}

/// Dynamic shared memory of a CTA in bytes.
template <class C>
SM100_HD constexpr uint32_t direct_storage_bytes(const C& c) {
  return direct_storage(c).end - kSmemUserBase;
}

/// Calls f(BarrierArray) for every array, in the order of their initialisation.
template <class C, class F>
SM100_HD constexpr void for_each_barrier_array(const C& c, const DirectStorage& s, F&& f) {
  const bool one = c.roles == DirectRoles::one_thread;
  const char *load = one ? "main" : "load", *mma = one ? "main" : "mma";
  // Of a pair, each CTA announces its own bytes on the first one's barrier.
  f(BarrierArray{"input_full", s.input.full, c.stages, uint32_t(c.cta_group), load, "mbarrier.arrive.expect_tx",
                 mma});
  f(BarrierArray{"input_empty", s.input.empty, c.stages, 1, mma, "tcgen05.commit", load});
  f(BarrierArray{"accum_full", s.accum_full, 1, 1, mma, "tcgen05.commit",
                 one ? "main, epilogue" : "load, mma, epilogue"});
}

}  // namespace sm100
