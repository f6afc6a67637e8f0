// SPDX-License-Identifier: Apache-2.0
/// What every viewer needs of a trace before it can be drawn: lanes, so that slices on one line never cross,
/// and one sequence of begins, ends and instants in order of time.  The exporters write what this
/// computes.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

struct TimelineEvent {
  enum Edge : uint32_t { end, barrier, wakeup, finding, begin };
  Edge edge;
  uint32_t index;  ///< into Trace::spans, Trace::barrier_events, Trace::wakeups or Trace::findings
};

struct Timeline {
  std::vector<uint32_t> lane;   ///< by span; lane 0 is the track itself
  std::vector<uint32_t> lanes;  ///< by track, at least 1
  /// Sorted by time.  At one time: barrier events as recorded (a wait ends because its barrier's phase does);
  /// wake-ups; findings; ends, inner before outer; spans of length zero, begin then end; begins, outer before
  /// inner.
  std::vector<TimelineEvent> events;
};

/// On a role track spans nest and stay on lane 0 (two that cross, which a correct recording never has, are
/// parted). On a unit track spans that overlap are independent, so each overlap takes another lane. Throws
/// std::runtime_error when the trace contradicts itself.
Timeline make_timeline(const Trace& trace);

}  // namespace sm100::traces
