// SPDX-License-Identifier: Apache-2.0
/// In which order the phases of a run's mbarriers completed, whatever the times: two runs with the same order have
/// seen the same schedule, as far as barriers can tell.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace sm100::sim {

class CompletionOrder {
 public:
  /// The open phase of the barrier at `offset` of the CTA in `slot` has completed.
  void add(int slot, uint32_t offset) {
    order_ = (order_ ^ (uint64_t(slot) << 32 | offset)) * 0x100000001b3u;
    order_ ^= order_ >> 29;
    if (size_t(slot) >= last_.size()) last_.resize(size_t(slot) + 1, 0);
    uint32_t& before = last_[size_t(slot)];
    pairs_.insert(uint64_t(slot) << 40 | uint64_t(before) << 20 |
                  offset);  // shared memory has less than 2^20 bytes
    before = offset;
  }

  /// A hash of the whole sequence.
  uint64_t order() const { return order_; }
  /// Which barrier's completion came next after which in each CTA slot; a set that later runs of a scenario add
  /// less and less to.
  std::vector<uint64_t> pairs() const { return {pairs_.begin(), pairs_.end()}; }

 private:
  uint64_t order_ = 0xcbf29ce484222325u;
  std::vector<uint32_t> last_;  ///< by slot
  std::unordered_set<uint64_t> pairs_;
};

}  // namespace sm100::sim
