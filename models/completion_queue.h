/// Deferred effects of one asynchronous unit, performed at their cycle in order of time, then of issue.
/// A unit by reservation computes when an operation ends and posts what happens then; idle cycles cost
/// nothing.
#pragma once

#include <functional>
#include <queue>
#include <systemc>
#include <vector>

#include "models/time.h"

namespace sm100::models {

class CompletionQueue : public sc_core::sc_module {
 public:
  explicit CompletionQueue(sc_core::sc_module_name name);

  /// Performs `effect` at cycle `at` (not before now).
  void post(Cycles at, std::function<void()> effect);

 private:
  struct Entry {
    Cycles at;
    uint64_t order;
    std::function<void()> effect;
    bool operator>(const Entry& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  void run();

  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
  uint64_t posted_ = 0;
  sc_core::sc_event due_;
};

}  // namespace sm100::models
