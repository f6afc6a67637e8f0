// SPDX-License-Identifier: Apache-2.0
/// Which cp.async of a warp are over.  Groups belong to a thread (PTX 9.7.9.25.3): a copy by several lanes is over
/// when each of them has waited for the group that it has put the copy into, or has arrived behind it.
///
/// Copies by the same lanes end in their order, so they are numbered together: a stream.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <vector>

namespace sm100::sim {

class CopyGroups {
 public:
  /// A copy and those of the same lanes before it.
  struct Upto {
    uint32_t lanes;
    uint32_t number;  ///< from 1; copies that no lane has closed a group between share one
  };

  /// The next copy of these lanes.
  Upto copy(uint32_t lanes) {
    Stream& stream = stream_of(lanes);
    Threads groups{};
    each(lanes, [&](int lane) { groups[size_t(lane)] = committed_[size_t(lane)] + 1; });
    if (stream.pending.empty() || stream.pending.back().groups != groups || stream.pending.back().arrived != 0)
      stream.pending.push_back({++stream.last, groups});
    if (stream.pending.size() > kKept) stream.pending.pop_front();  // who waits for a later one waits for it too
    return {lanes, stream.last};
  }
  void commit(uint32_t lanes) {
    each(lanes, [&](int lane) { ++committed_[size_t(lane)]; });
  }
  /// cp.async.wait_group by these lanes: calls over(Upto) for what has ended with it.
  template <class F>
  void wait(uint32_t lanes, uint32_t pending, F&& over) {
    each(lanes, [&](int lane) {
      const uint32_t committed = committed_[size_t(lane)];
      if (committed > pending) done_[size_t(lane)] = std::max(done_[size_t(lane)], committed - pending);
    });
    for (Stream& stream : streams_)
      while (!stream.pending.empty() && waited(stream, stream.pending.front())) {
        over(Upto{stream.lanes, stream.pending.front().number});
        stream.pending.pop_front();
      }
  }
  /// cp.async.mbarrier.arrive by these lanes: calls over(Upto) for what has ended when they have arrived.
  template <class F>
  void arrive(uint32_t lanes, F&& over) {
    for (Stream& stream : streams_)
      for (Batch& batch : stream.pending) {
        batch.arrived |= lanes & stream.lanes;
        if (batch.arrived == stream.lanes) over(Upto{stream.lanes, batch.number});
      }
  }

 private:
  using Threads = std::array<uint32_t, 32>;
  struct Batch {
    uint32_t number;
    Threads groups;  ///< of each lane: which of its groups it is in, from 1
    uint32_t arrived = 0;
  };
  struct Stream {
    uint32_t lanes;
    uint32_t last = 0;
    std::deque<Batch> pending;
  };
  static constexpr size_t kKept = 64;

  template <class F>
  static void each(uint32_t lanes, F&& f) {
    for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
  }
  bool waited(const Stream& stream, const Batch& batch) const {
    bool all = true;
    each(stream.lanes, [&](int lane) { all = all && batch.groups[size_t(lane)] <= done_[size_t(lane)]; });
    return all;
  }
  Stream& stream_of(uint32_t lanes) {
    const auto known =
        std::find_if(streams_.begin(), streams_.end(), [=](const Stream& s) { return s.lanes == lanes; });
    return known != streams_.end() ? *known : streams_.emplace_back(Stream{lanes, 0, {}});
  }

  std::vector<Stream> streams_;
  Threads committed_{}, done_{};  ///< groups of each lane
};

}  // namespace sm100::sim
