// SPDX-License-Identifier: Apache-2.0
#include "ptx/lane_groups.h"

#include <algorithm>

namespace sm100::ptx {

LaneGroup LaneGroups::next() {
  if (ready_.empty()) {
    if (waiting_.size() > 1) ++vain_rounds_;
    if (vain_rounds_ < kVainRounds) {
      const LaneGroup group = waiting_.front();
      waiting_.erase(waiting_.begin());
      limit_ = UINT32_MAX;
      return group;
    }
    std::swap(ready_, waiting_);
  }
  const auto lowest = std::min_element(ready_.begin(), ready_.end(),
                                       [](const LaneGroup& a, const LaneGroup& b) { return a.pc < b.pc; });
  const LaneGroup group = *lowest;
  ready_.erase(lowest);
  set_limit();
  return group;
}

void LaneGroups::release_parked() {
  ready_.swap(parked_);
  for (LaneGroup& group : ready_) group.alone = true;
}

void LaneGroups::set_limit() {
  limit_ = UINT32_MAX;
  for (const LaneGroup& other : ready_) limit_ = std::min(limit_, other.pc);
}

void LaneGroups::add_ready(LaneGroup group) {
  for (std::vector<LaneGroup>* groups : {&ready_, &waiting_, &parked_})
    for (auto other = groups->begin(); other != groups->end(); ++other)
      if (other->pc == group.pc) {
        group.lanes |= other->lanes, group.alone = false;
        groups->erase(other);
        return add_ready(group);
      }
  ready_.push_back(group);
}

void LaneGroups::park(LaneGroup group) {
  const bool met =
      std::any_of(parked_.begin(), parked_.end(), [&](const LaneGroup& other) { return other.pc == group.pc; });
  if (met) return add_ready(group);
  parked_.push_back(group);
}

bool LaneGroups::branch(LaneGroup& group, LaneMask taken, uint32_t target) {
  const LaneMask others = group.lanes & ~taken;
  if (others == 0) {
    group.pc = target;
  } else if (taken == 0) {
    ++group.pc;
  } else {
    const LaneGroup a{group.pc + 1, others}, b{target, taken};
    group = a.pc < b.pc ? a : b;
    add_ready(a.pc < b.pc ? b : a);
    set_limit();
  }
  return group.pc >= limit_;
}

void LaneGroups::split_off(LaneGroup& group, LaneMask lanes, uint32_t pc) {
  add_ready({pc, lanes});
  group.lanes &= ~lanes;
  set_limit();
}

}  // namespace sm100::ptx
