// SPDX-License-Identifier: Apache-2.0
/// The way of the warps' stores to global memory out of an SM, shared by its warps: so many cycles for each line of
/// a store, one store behind the other, and room for a few stores that wait.  A warp goes on when its store has
/// found room.  Measured on an H200 by bench/hardware/store_costs.cu (docs/accuracy-h200.md, section 2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sm100::models {

/// Of one SM.
class StorePath {
 public:
  /// Cycle at which the next store finds room, when it comes at cycle `at`.
  /// @param room  stores, each of a warp, that may be on the way; the same in every call
  uint64_t has_room(uint64_t at, int room) {
    if (passed_.empty()) passed_.resize(size_t(room));
    return std::max(at, passed_[next_]);
  }

  /// Takes the path for the store that has found room at cycle `at`.
  /// @param cycles    that its lines take
  /// @param accepted  cycle at which L2 has taken it
  /// @return cycle at which it has left the SM
  uint64_t pass(uint64_t at, double cycles, uint64_t accepted) {
    free_ = std::max(std::max(double(at), free_) + cycles, double(accepted));
    const auto left = uint64_t(std::llround(free_));
    passed_[next_] = left;
    next_ = (next_ + 1) % passed_.size();
    return left;
  }

 private:
  std::vector<uint64_t> passed_;  ///< cycles at which the last stores left, as a ring
  size_t next_ = 0;
  double free_ = 0;
};

}  // namespace sm100::models
