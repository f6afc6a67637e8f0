// SPDX-License-Identifier: Apache-2.0
/// Which phases one warp has seen of each mbarrier that it waits on, and whether its next wait can mean what it
/// says (MB8).  A parity names the open phase or the one before it, nothing older (PTX 9.7.13.15.16).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace sm100::sim {

class WaitHistory {
 public:
  enum class Next {
    fine,
    again,  ///< the phase that a test_wait has found complete: the wait that it spared, or the answer was thrown
            ///< away
    stale,  ///< passes on the phase that the warp's last wait on this barrier has seen: legal, but hardly meant
    skips,  ///< the phase after the one last seen is out of reach: meant is a later one of its parity, or it was
            ///< lapped
  };

  /// A wait for `parity` on a barrier whose open phase is `open`.
  Next classify(uint32_t barrier, uint32_t parity, int64_t open) const {
    const auto last = find(barrier);
    if (last == seen_.end()) return Next::fine;
    const bool same_parity = (last->phase & 1) == int64_t(parity);
    // An equal parity on a later phase is a cursor that has left out a wait, which is its right.
    if (same_parity && open == last->phase + 1) return last->tested ? Next::again : Next::stale;
    return !same_parity && open > last->phase + 2 ? Next::skips : Next::fine;
  }
  /// Phase that a wait for `parity` sees, now or when it has completed.
  static int64_t named(uint32_t parity, int64_t open) { return (open & 1) == int64_t(parity) ? open : open - 1; }
  /// Phase that the warp saw last; only after see().
  int64_t seen(uint32_t barrier) const { return find(barrier)->phase; }
  /// What has been seen of the barrier, to be put back when a wait comes to nothing.
  struct Seen {
    uint32_t barrier;  ///< offset
    int64_t phase;     ///< -1: the phase before the first
    bool tested;
  };
  std::optional<Seen> last(uint32_t barrier) const {
    const auto last = find(barrier);
    return last == seen_.end() ? std::nullopt : std::optional(*last);
  }
  void put_back(uint32_t barrier, const std::optional<Seen>& before) {
    std::erase_if(seen_, [=](const Seen& s) { return s.barrier == barrier; });
    if (before) seen_.push_back(*before);
  }
  /// @param tested  by a test_wait: the same phase may be asked for once more
  void see(uint32_t barrier, int64_t phase, bool tested) {
    const auto last = find(barrier);
    if (last == seen_.end())
      seen_.push_back({barrier, phase, tested});
    else
      seen_[size_t(last - seen_.begin())] = {barrier, phase, tested};
  }

 private:
  std::vector<Seen>::const_iterator find(uint32_t barrier) const {
    return std::find_if(seen_.begin(), seen_.end(), [=](const Seen& s) { return s.barrier == barrier; });
  }
  std::vector<Seen> seen_;  ///< a dozen at most
};

}  // namespace sm100::sim
