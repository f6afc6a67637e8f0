// SPDX-License-Identifier: Apache-2.0
#include "models/shared_memory_port.h"

#include <algorithm>

namespace sm100::models {

void SharedMemoryPort::idle_until(double at) {
  if (at <= free_) return;
  kept_ = std::max(0.0, kept_ - (at - free_));
  free_ = at;
}

SharedMemoryPort::Passage SharedMemoryPort::pass(double at, double wavefronts) {
  idle_until(at);
  const double turns = std::min(kept_, wavefronts);
  kept_ -= turns;
  return serve(at, wavefronts + turns, 0);
}

SharedMemoryPort::Passage SharedMemoryPort::pass_one_lane(double at, double cycles, double part) {
  idle_until(at);
  return serve(at, cycles, part);
}

SharedMemoryPort::Passage SharedMemoryPort::serve(double at, double cycles, double part) {
  const double begin = free_;
  double left = cycles;
  while (!operands_.empty() && operands_.front().end <= at) operands_.pop_front();
  for (const Reads& reads : operands_) {
    if (reads.end <= free_) continue;
    if (free_ < reads.begin) {
      const double before = std::min(left, reads.begin - free_);
      free_ += before, left -= before;
    }
    if (left <= 0) return {begin, free_, 0};
    const double rate = std::min(1.0, reads.leave + part), during = std::min(left, (reads.end - free_) * rate);
    free_ += during / rate, left -= during;
    if (left <= 0) return {begin, free_, 0};
  }
  if (!operands_.empty() && operands_.back().end > at) return {begin, free_, left};
  free_ += left;
  return {begin, free_, 0};
}

void SharedMemoryPort::keep(double at, double cycles) {
  idle_until(at);
  kept_ += cycles;
}

}  // namespace sm100::models
