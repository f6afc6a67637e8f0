// SPDX-License-Identifier: Apache-2.0
#include "traces/format/schema.h"

#include <algorithm>
#include <tuple>

namespace sm100::traces {

uint64_t run_length(const Trace& trace) {
  if (trace.metadata.run_ticks != 0) return trace.metadata.run_ticks;
  uint64_t first = UINT64_MAX, last = 0;
  for (const Span& span : trace.spans) first = std::min(first, span.begin), last = std::max(last, span.end);
  return first > last ? 0 : last - first;
}

void sort_events(Trace& trace) {
  std::sort(trace.spans.begin(), trace.spans.end(), [](const Span& a, const Span& b) {
    return std::tie(a.begin, a.track, a.sequence) < std::tie(b.begin, b.track, b.sequence);
  });
  std::stable_sort(trace.barrier_events.begin(), trace.barrier_events.end(),
                   [](const BarrierEvent& a, const BarrierEvent& b) { return a.time < b.time; });
  std::stable_sort(trace.wakeups.begin(), trace.wakeups.end(),
                   [](const Wakeup& a, const Wakeup& b) { return a.end < b.end; });
  std::stable_sort(trace.findings.begin(), trace.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.time < b.time; });
}

}  // namespace sm100::traces
