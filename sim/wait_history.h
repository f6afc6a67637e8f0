/// Which phases one warp has seen of each mbarrier that it waits on, and whether its next wait can mean what it says
/// (MB8).  A parity names the open phase or the one before it, nothing older (PTX 9.7.13.15.16).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace sm100::sim {

class WaitHistory {
 public:
  enum class Next {
    fine,
    stale,   ///< passes on the phase that the warp's last wait on this barrier has seen: legal, but hardly meant
    lapped,  ///< the phase after the one last seen completed two or more phases ago
  };

  /// A wait for `parity` on a barrier whose open phase is `open`.
  Next classify(uint32_t barrier, uint32_t parity, int64_t open) const {
    const auto last = find(barrier);
    if (last == seen_.end()) return Next::fine;
    const bool same_parity = (last->second & 1) == int64_t(parity);
    // An equal parity on a later phase is a cursor that has left out a wait, which is its right.
    if (same_parity) return open == last->second + 1 ? Next::stale : Next::fine;
    return open > last->second + 2 ? Next::lapped : Next::fine;
  }
  /// Phase that the warp saw last; only after see().
  int64_t seen(uint32_t barrier) const { return find(barrier)->second; }
  void see(uint32_t barrier, int64_t phase) {
    const auto last = find(barrier);
    if (last == seen_.end())
      seen_.push_back({barrier, phase});
    else
      seen_[size_t(last - seen_.begin())].second = phase;
  }

 private:
  std::vector<std::pair<uint32_t, int64_t>>::const_iterator find(uint32_t barrier) const {
    return std::find_if(seen_.begin(), seen_.end(), [=](const auto& s) { return s.first == barrier; });
  }
  std::vector<std::pair<uint32_t, int64_t>> seen_;  ///< by offset, a dozen at most; -1: the phase before the first
};

}  // namespace sm100::sim
