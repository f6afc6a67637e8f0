// SPDX-License-Identifier: Apache-2.0
/// Walks over the work tiles of a CTA, one iterator per role; the same for every scheduler.
///
///   for (auto work = scheduler.work_iterator(); work.has_work(); work.next()) { ... work.current() ... }
///
/// next() advances after the work: fetch, assign, step.  A role may call prefetch() at the start of the body
/// to fetch the next tile before its work (the MMA warp does); the load warp must not, because the scheduler
/// asks for tile i + 1 only after the load warp has signalled the start of tile i: it would wait for itself.
///
/// A scheduler is a class of its own for each policy: one_tile_scheduler.h, static_scheduler.h, clc_scheduler.h.
/// What it gives a role is a `Walk`: first(), fetch(loc) of the next tile, and throttle_signal(loc).  A tile is a
/// WorkTile or a type of the scheduler's own that knows more than its place.
#pragma once

#include <utility>

#include "kernels/isa/portability.h"
#include "kernels/scheduler/work_tile.h"

namespace sm100 {

template <class Walk>
class WorkIterator {
 public:
  using Tile = decltype(std::declval<Walk&>().first());

  SM100_KERNEL explicit WorkIterator(const Walk& walk) : walk_(walk), current_(walk_.first()) {}

  SM100_HD bool has_work() const { return current_.valid; }
  SM100_HD const Tile& current() const { return current_; }

  /// Load warp, at the start of each tile: a scheduler that asks for tiles may ask for the next one.
  SM100_KERNEL void throttle_signal(Loc loc = Loc::current()) { walk_.throttle_signal(loc); }

  /// Fetches the next tile now; next() will only assign it.
  SM100_KERNEL void prefetch(Loc loc = Loc::current()) {
    prefetched_ = walk_.fetch(loc);
    has_prefetched_ = true;
  }

  SM100_KERNEL void next(Loc loc = Loc::current()) {
    current_ = has_prefetched_ ? prefetched_ : walk_.fetch(loc);
    has_prefetched_ = false;
  }

 private:
  Walk walk_;
  Tile current_, prefetched_;
  bool has_prefetched_ = false;
};

/// What a scheduler hands out.
template <class Scheduler>
using TileOf = typename decltype(std::declval<Scheduler&>().work_iterator())::Tile;

}  // namespace sm100
