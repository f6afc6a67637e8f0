#include "traces/schema.h"

#include <algorithm>
#include <tuple>

namespace sm100::traces {

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
