// SPDX-License-Identifier: Apache-2.0
/// Is an input ring deep enough to hide the time that its fills take?
#pragma once

#include <optional>
#include <string>

#include "traces/format/schema.h"

namespace sm100::traces {

/// What a trace says of a ring that TMA fills and the tensor core reads.  In ticks; medians over all stages of all
/// CTAs.
struct RingDepth {
  int stages = 0;
  uint64_t bytes = 0;         ///< of one fill
  uint64_t fill = 0;          ///< from arming the barrier until the last byte is there
  uint64_t fastest_fill = 0;  ///< the same, of those that hardly wait for others: the 10th percentile
  uint64_t turnaround =
      0;  ///< from there until the stage is armed again, when the tensor core waits for it (10th percentile)
  uint64_t use = 0;  ///< tensor-core time for one fill: MMAs in flight over fills

  /// Copies wait for memory or for each other: depth does not help.
  bool queues() const { return 2 * fill > 3 * fastest_fill; }
  /// With so many, a stage that is armed again comes back filled before the tensor core needs it.
  int enough() const { return use == 0 ? 0 : int((fastest_fill + turnaround + use - 1) / use); }
  uint64_t in_flight() const { return uint64_t(stages) * bytes; }
};

/// @param array  the barriers that the fills complete, "input_full"
/// Nothing where the trace lacks what it takes: barrier events of several fills, and MMAs.
std::optional<RingDepth> ring_depth(const Trace& trace, const std::string& array);

}  // namespace sm100::traces
