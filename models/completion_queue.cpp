#include "models/completion_queue.h"

#include <algorithm>

namespace sm100::models {

CompletionQueue::CompletionQueue(sc_core::sc_module_name name) : sc_module(name) {
  SC_HAS_PROCESS(CompletionQueue);
  SC_METHOD(run);
  sensitive << due_;
  dont_initialize();
}

void CompletionQueue::post(Cycles at, std::function<void()> effect) {
  at = std::max(at, now());
  const bool earliest = entries_.empty() || at < entries_.top().at;
  entries_.push({at, posted_++, std::move(effect)});
  // An earlier pending notification overrides a later one, so only a new earliest entry needs to notify.
  if (earliest) due_.notify(cycles(at - now()));
}

void CompletionQueue::run() {
  while (!entries_.empty() && entries_.top().at <= now()) {
    // The effect may post again, so it must leave the queue first.
    auto effect = std::move(const_cast<Entry&>(entries_.top()).effect);
    entries_.pop();
    effect();
  }
  if (!entries_.empty()) due_.notify(cycles(entries_.top().at - now()));
}

}  // namespace sm100::models
