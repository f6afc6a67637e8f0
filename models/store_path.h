// SPDX-License-Identifier: Apache-2.0
/// The way of the warps' stores to global memory out of an SM, shared by its warps: so many cycles for each line of
/// a store, one store behind the other, and room for a few stores that wait.  A warp goes on when its store has
/// found room.  What the copy engine asks L2 for goes the same way, a request and a line in turns.  Measured on an
/// H200 by bench/hardware/store_costs.cu and port_costs.cu (docs/accuracy-h200.md, section 2).
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
  /// What a store takes of the way.
  struct Lines {
    double count, cycles;
  };

  /// Cycle at which the next store finds room, when it comes at cycle `at`.
  /// @param room  stores, each of a warp, that may be on the way; the same in every call
  uint64_t has_room(uint64_t at, int room) {
    if (stores_.empty()) stores_.resize(size_t(room));
    return std::max(at, stores_[next_].left);
  }

  /// Takes the path for the store that has found room at cycle `at`.
  /// @param accepted  cycle at which L2 has taken it
  /// @return cycle at which it has left the SM
  uint64_t pass(uint64_t at, const Lines& lines, uint64_t accepted) {
    free_ = std::max(std::max(double(at), free_) + lines.cycles, double(accepted));
    const auto left = uint64_t(std::llround(free_));
    stores_[next_] = {left, lines};
    next_ = (next_ + 1) % stores_.size();
    return left;
  }

  /// The requests of a load, from cycle `from` on: each takes its turn behind a line of the stores that are on the
  /// way, which lets it pass.
  /// @param issued  cycle of the load: who stores then is taken to go on until the requests go
  /// @param each    cycles of a request
  /// @return cycle at which the last one is through
  double ask(uint64_t issued, double from, double requests, double each) {
    Lines waiting{0, 0};
    for (const Store& s : stores_)
      if (s.left > issued) waiting.count += s.lines.count, waiting.cycles += s.lines.cycles;
    if (waiting.count == 0) return from + requests * each;
    const double turns = std::min(requests, waiting.count);
    double lines = 0;
    for (size_t i = 0; i < stores_.size(); ++i) {  // the oldest first
      Store& s = stores_[(next_ + i) % stores_.size()];
      if (s.left <= issued) continue;
      lines += s.lines.count;
      s.left += uint64_t(std::llround(std::min(turns, lines) * each));
    }
    free_ += turns * each;
    return from + requests * each + turns * waiting.cycles / waiting.count;
  }

 private:
  struct Store {
    uint64_t left = 0;  ///< cycle
    Lines lines{0, 0};
  };
  std::vector<Store> stores_;  ///< the last ones, as a ring
  size_t next_ = 0;
  double free_ = 0;
};

}  // namespace sm100::models
