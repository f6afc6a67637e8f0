// SPDX-License-Identifier: Apache-2.0
/// A scheduler warp that walks ahead and hands its tiles to the other warps of the CTA through a ring in shared
/// memory.
///
/// full[s]:  one arrival, of the lane that has written the slot.
/// empty[s]: one arrival of every warp that has read it: load, MMA and four epilogue warps.
///
/// The last slot says that there is no more work.  The CTAs of a pair have a scheduler warp each: both walk over
/// the same words.  So all arrivals are of the own CTA, and nobody has to wait for them at the end: what a CTA
/// still does is done before it exits.
#pragma once

#include "kernels/grouped_1d1d/group_walk.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"

namespace sm100 {

/// Shared-memory addresses of the ring.
struct WorkStorage {
  RingBarriers ring;  ///< work_full, work_empty
  SmemAddr slots;     ///< tiles, kWorkSlotBytes each
};

inline constexpr uint32_t kWorkSlotBytes = 32;  ///< two words of 16 bytes
inline constexpr uint32_t kWorkReaders = 1 + 1 + uint32_t(epilogue_group().warps);

/// A tile as it lies in a slot.
struct WorkSlot {
  ClcResponse place, group;  ///< 16 bytes each
};

SM100_HD constexpr uint64_t word_pair(int low, int high) { return uint64_t(uint32_t(high)) << 32 | uint32_t(low); }
SM100_HD constexpr WorkSlot slot_of(const GroupTile& t) {
  return {{word_pair(t.m, t.n), word_pair(t.k_count, t.valid)},
          {word_pair(t.group.first_row, t.group.end_row), word_pair(t.group.scale_group, t.group.expert)}};
}
SM100_HD constexpr GroupTile tile_of(const WorkSlot& s) {
  const auto low = [](uint64_t pair) { return int(uint32_t(pair)); };
  const auto high = [](uint64_t pair) { return int(uint32_t(pair >> 32)); };
  return {{.m = low(s.place.lo), .n = high(s.place.lo), .k_count = low(s.place.hi), .valid = high(s.place.hi) != 0},
          {low(s.group.lo), high(s.group.lo), low(s.group.hi), high(s.group.hi)}};
}

template <Isa I, class Config, class Params>
class WorkRing {
  using Ring = ProducerConsumerPipeline<I>;

 public:
  static constexpr bool kPublishes = true;  ///< needs a scheduler warp

  SM100_HD WorkRing(I& isa, const Config& cfg, const Params& params, const WorkStorage& storage)
      : isa_(isa), cfg_(cfg), params_(params), storage_(storage) {}

  /// Scheduler warp: all tiles, then the slot without one.
  SM100_KERNEL void publish(Loc loc = Loc::current()) {
    GroupWalk<I, Config, Params> walk{isa_, cfg_, params_};
    Ring ring = work_ring();
    bool more = true;
    while (more) {
      const GroupTile tile = walk.fetch();
      const int stage = ring.producer_acquire(loc);
      const WorkSlot value = slot_of(tile);
      isa_.elected([&] {
        isa_.st_shared_b128(slot(stage), value.place, loc);
        isa_.st_shared_b128(slot(stage) + 16, value.group, loc);
        isa_.mbarrier_arrive(ring.full(stage), Scope::cta, loc);
      });
      ring.producer_step(loc);
      more = tile.valid;
    }
  }

  /// Of every other role.
  class Walk {
   public:
    SM100_KERNEL explicit Walk(WorkRing& scheduler) : scheduler_(scheduler), ring_(scheduler.work_ring()) {}

    SM100_KERNEL GroupTile first() { return fetch(Loc::current()); }
    SM100_KERNEL GroupTile fetch(Loc loc) { return scheduler_.read(ring_, loc); }
    SM100_KERNEL void throttle_signal(Loc) {}

   private:
    WorkRing& scheduler_;
    Ring ring_;
  };
  SM100_KERNEL WorkIterator<Walk> work_iterator() { return WorkIterator<Walk>{Walk{*this}}; }

 private:
  SM100_HD Ring work_ring() { return {isa_, storage_.ring, cfg_.work_stages}; }
  SM100_HD SmemAddr slot(int stage) const { return storage_.slots + kWorkSlotBytes * uint32_t(stage); }

  SM100_KERNEL GroupTile read(Ring& ring, Loc loc) {
    const int stage = ring.consumer_wait(loc);
    const WorkSlot value{isa_.ld_shared_b128(slot(stage), loc), isa_.ld_shared_b128(slot(stage) + 16, loc)};
    isa_.bar_warp_sync();  // all lanes have read
    isa_.elected([&] { isa_.mbarrier_arrive(ring.empty(stage), Scope::cta, loc); });
    ring.consumer_step(loc);
    return tile_of(value);
  }

  I& isa_;
  const Config& cfg_;
  const Params& params_;
  WorkStorage storage_;
};

}  // namespace sm100
