// SPDX-License-Identifier: Apache-2.0
/// What a path or a channel of memory serves, by time: a request takes the first time that is free from its cycle
/// on. Units ask ahead of time, and not in the order of time; whoever asks for an earlier cycle finds the gaps that
/// those before it have left, however far ahead these have asked.
///
/// Approximated: time is counted in steps of 32 cycles; of a step that has begun, what is left of it can be had.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/time.h"

namespace sm100::models {

class Timetable {
 public:
  struct Slot {
    double begin, end;  ///< begin: so long before the end as it takes, and not when its first part was served
  };

  /// Takes so many cycles from cycle `from` on.
  Slot take(double from, double cycles) {
    uint64_t step = std::max(first_, uint64_t(int64_t(from)) / kStep);
    if (step >= full_begin_ && step < full_end_) step = full_end_;
    double left = cycles, end = from;
    for (;; ++step) {
      float& used = at(step);
      const double step_begins = double(int64_t(step * kStep));
      const double begin = std::max(step_begins + double(used), from);
      const double room = std::min(kStep - double(used), step_begins + double(kStep) - begin);
      const double part = std::min(left, room);
      if (part > 0) used += float(part), end = begin + part, left -= part;
      if (left <= kLittle) break;
      if (kStep - double(used) <= kLittle) note_full(step);  // else something before `from` is left of it
    }
    return {std::max(from, end - cycles), end};
  }

 private:
  static constexpr uint64_t kStep = 32, kSteps = 1024, kMostSteps = uint64_t{1} << 18;
  static constexpr double kLittle = 1e-3;

  /// Cycles of a step that are taken.
  float& at(uint64_t step) {
    if (step >= first_ + used_.size()) make_room(step);
    return used_[step & (used_.size() - 1)];
  }
  /// The past makes room for a step, and where that is too little there is more of it.
  void make_room(uint64_t step) {
    forget_before(std::min(step, now() / kStep));
    uint64_t size = std::max(kSteps, used_.size());
    while (size < kMostSteps && step >= first_ + size) size *= 2;
    if (size > used_.size()) {
      std::vector<float> larger(size);
      for (uint64_t s = first_; s < first_ + used_.size(); ++s)
        larger[s & (size - 1)] = used_[s & (used_.size() - 1)];
      used_ = std::move(larger);
    }
    if (step >= first_ + size) forget_before(step - size / 2);  // milliseconds ahead
  }
  void forget_before(uint64_t first) {
    for (uint64_t s = first_; s < first && s < first_ + used_.size(); ++s) used_[s & (used_.size() - 1)] = 0;
    first_ = std::max(first_, first);
  }
  /// Nothing is left of a step.
  void note_full(uint64_t step) {
    if (step == full_end_)
      ++full_end_;
    else if (step > full_end_)
      full_begin_ = step, full_end_ = step + 1;
  }

  std::vector<float> used_;                 ///< as a ring, of a power of two
  uint64_t first_ = 0;                      ///< step: of those before nothing is known, and nothing can be had
  uint64_t full_begin_ = 0, full_end_ = 0;  ///< steps of which nothing is left
};

}  // namespace sm100::models
