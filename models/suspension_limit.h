// SPDX-License-Identifier: Apache-2.0
/// Ends the suspension of try_waits that last too long (PTX: "a system-dependent time limit").  The limit is the
/// same for all, so they end in the order in which they began.
///
/// No event of SystemC's: one more would change in which order it takes those of one cycle.  Whoever runs the
/// simulation stops at next() and calls end_due().
#pragma once

#include <deque>
#include <optional>

#include "models/mbarrier.h"

namespace sm100::models {

class SuspensionLimit {
 public:
  explicit SuspensionLimit(Cycles limit) : limit_(limit) {}
  Cycles cycles() const { return limit_; }

  /// `waiter` has begun to wait: it is woken with `gave_up` at the limit, unless it is woken before.
  void watch(Waiter& waiter);
  /// Cycle at which the first of those that still wait gives up.
  std::optional<Cycles> next();
  /// Wakes those whose limit is now.
  void end_due();

  /// A warp has done something else after a try_wait that gave up.
  void left() { ++left_; }
  uint64_t times_left() const { return left_; }

 private:
  struct Watched {
    Cycles until;
    Waiter* waiter;
    uint64_t number;
    bool waits_still() const { return waiter->limited == number; }
  };

  const Cycles limit_;
  uint64_t waits_ = 0, left_ = 0;
  std::deque<Watched> watched_;
};

}  // namespace sm100::models
