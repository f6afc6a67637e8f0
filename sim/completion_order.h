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
    // Shared memory has less than 2^20 bytes.
    const uint64_t pair = uint64_t(slot) << 40 | uint64_t(before) << 20 | offset;
    uint64_t& seen = seen_[(pair * 0x9e3779b97f4a7c15u) >> (64 - kSeenBits)];
    if (seen != pair) pairs_.insert(pair), seen = pair;
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
  /// Pairs that are in the set already, most of them: a ring's barriers complete in turns.
  static constexpr int kSeenBits = 14;
  std::vector<uint64_t> seen_ = std::vector<uint64_t>(size_t{1} << kSeenBits, ~uint64_t{0});
};

}  // namespace sm100::sim
