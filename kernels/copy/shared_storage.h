// SPDX-License-Identifier: Apache-2.0
/// Shared memory of pipeline_copy and the table of its barriers.  Slots are 1024-byte aligned, so that the swizzle
/// of a slot's rows does not depend on the slot.
#pragma once

#include "kernels/copy/config.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"

namespace sm100 {

struct CopyStorage {
  SmemAddr slots;      ///< stages slots
  SmemAddr strips;     ///< kOutputBuffers strips of one slot each
  RingBarriers input;  ///< ring stages
  uint32_t end = 0;    ///< first address past the storage
};

/// @param base  start of the CTA's dynamic shared memory
template <class C>
SM100_HD constexpr CopyStorage copy_storage(const C& c, SmemAddr base = {kSmemUserBase}) {
  SmemLayout layout{base.value};
  CopyStorage s;
  s.slots = layout.take(uint32_t(c.stages) * copy_slot_bytes(c), 1024);
  s.strips = layout.take(kOutputBuffers * copy_slot_bytes(c), 1024);
  s.input.full = layout.take_barriers(copy_ring_stages(c));
  s.input.empty = layout.take_barriers(copy_ring_stages(c));
  s.end = layout.next;
  return s;
}

/// Dynamic shared memory of a CTA in bytes.
template <class C>
SM100_HD constexpr uint32_t copy_storage_bytes(const C& c) {
  return copy_storage(c).end - kSmemUserBase;
}

/// Calls f(BarrierArray) for every array, in the order of their initialisation.
template <class C, class F>
SM100_HD constexpr void for_each_barrier_array(const C& c, const CopyStorage& s, F&& f) {
  f(BarrierArray{"input_full", s.input.full, copy_ring_stages(c), 1, "load", "mbarrier.arrive.expect_tx",
                 "consumer"});
  // Every consumer warp of every CTA that shares the stage.
  f(BarrierArray{"input_empty", s.input.empty, copy_ring_stages(c), uint32_t(kCopyConsumerWarps * copy_sharers(c)),
                 "consumer", "mbarrier.arrive", "load"});
}

}  // namespace sm100
