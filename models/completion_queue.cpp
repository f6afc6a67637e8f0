// SPDX-License-Identifier: Apache-2.0
#include "models/completion_queue.h"

#include <algorithm>
#include <functional>

namespace sm100::models {

void CompletionQueue::schedule(Cycles at, uint32_t slot) {
  at = std::max(at, now());
  const bool earliest = entries_.empty() || at < entries_.front().at;
  entries_.push_back({at, posted_++, slot});
  std::push_heap(entries_.begin(), entries_.end(), std::greater<>());
  // An earlier pending notification overrides a later one, so only a new earliest entry needs to notify.
  if (earliest) due_.notify(at - now());
}

void CompletionQueue::run() {
  while (!entries_.empty() && entries_.front().at <= now()) {
    // The effect may post again, so it must leave the queue first; its slot is taken until it is done.
    const uint32_t slot = entries_.front().slot;
    std::pop_heap(entries_.begin(), entries_.end(), std::greater<>());
    entries_.pop_back();
    effects_[slot]();
    effects_[slot].reset();
    free_.push_back(slot);
  }
  if (!entries_.empty()) due_.notify(entries_.front().at - now());
}

}  // namespace sm100::models
