// SPDX-License-Identifier: Apache-2.0
/// Deferred effects of one asynchronous unit, performed at their cycle in order of time, then of issue.
/// A unit by reservation computes when an operation ends and posts what happens then; idle cycles cost
/// nothing, and once as many effects have been waiting as ever will, posting allocates nothing.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "models/inline_function.h"
#include "models/scheduler.h"
#include "models/time.h"

namespace sm100::models {

class CompletionQueue : Method {
 public:
  using Effect = InlineFunction<void(), 320>;

  /// Performs `effect` at cycle `at` (not before now).
  template <class F>
  void post(Cycles at, F&& effect) {
    if (free_.empty()) free_.push_back(uint32_t(effects_.size())), effects_.emplace_back();
    const uint32_t slot = free_.back();
    free_.pop_back();
    effects_[slot].emplace(std::forward<F>(effect));
    schedule(at, slot);
  }

 private:
  struct Entry {
    Cycles at;
    uint64_t order;
    uint32_t slot;  ///< of its effect
    bool operator>(const Entry& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  void schedule(Cycles at, uint32_t slot);
  void run() override;

  std::vector<Entry> entries_;  ///< a heap, the earliest in front
  std::deque<Effect> effects_;  ///< never move: an effect may post others while it is performed
  std::vector<uint32_t> free_;  ///< slots without an effect, the last used first
  uint64_t posted_ = 0;
  Event due_{*this};
};

}  // namespace sm100::models
