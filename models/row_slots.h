// SPDX-License-Identifier: Apache-2.0
/// The cycles in which an SM's copy engine turns boxes into rows, those that it asks L2 for and those that it reads
/// from shared memory: one row at a time (bench/hardware/tma_costs.cu, docs/accuracy-h200.md section 2).  What a
/// row takes is in tma_rows.h.
#pragma once

#include <algorithm>

namespace sm100::models {

class RowSlots {
 public:
  /// The rows of a load from cycle `from` on: they take turns with those of stores that are waiting.
  /// `between`: cycles that stores take in between at most.  @return when the last one is through
  double load(double from, double cycles, double between) {
    const double room = std::max(0.0, gap_end_ - std::max(from, gap_begin_));
    if (room >= cycles) return gap_begin_ = std::max(from, gap_begin_) + cycles;
    if (room > 0) gap_end_ = gap_begin_;
    free_ = std::max(from, free_) + cycles - room;
    return std::min(free_, from + cycles + between);
  }
  /// The rows of a store that can be read from cycle `from` on, behind all that are waiting.  @return as above
  double store(double from, double cycles) {
    if (from > free_) gap_begin_ = free_, gap_end_ = from;
    return free_ = std::max(from, free_) + cycles;
  }

 private:
  double free_ = 0;
  double gap_begin_ = 0, gap_end_ = 0;  ///< in front of a store that has been announced: loads may have it
};

}  // namespace sm100::models
