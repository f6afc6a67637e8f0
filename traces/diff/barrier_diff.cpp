// SPDX-License-Identifier: Apache-2.0
#include "traces/diff/barrier_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace sm100::traces {
namespace {

/// CTA, barrier, what, who.
using ListKey = std::tuple<int, std::string, BarrierEventKind, std::string>;
using Lists = std::map<ListKey, std::vector<const BarrierEvent*>>;

bool compared(BarrierEventKind kind) {
  return kind == BarrierEventKind::init || kind == BarrierEventKind::arrive || kind == BarrierEventKind::expect_tx;
}

Lists lists_of(const Trace& trace) {
  Lists lists;
  for (const BarrierEvent& event : trace.barrier_events) {
    if (!compared(event.kind)) continue;
    const Track& track = trace.tracks[event.track];
    const std::string who = event.actor == kNoName ? "" : trace.names[size_t(event.actor)];
    lists[{track.cta, track.name, event.kind, who}].push_back(&event);
  }
  for (auto& [key, list] : lists)
    std::stable_sort(list.begin(), list.end(), [](const auto* x, const auto* y) { return x->time < y->time; });
  return lists;
}

uint64_t first_begin(const Trace& trace) {
  uint64_t first = UINT64_MAX;
  for (const Span& span : trace.spans) first = std::min(first, span.begin);
  return first;
}

std::string describe(const BarrierEvent& e) {
  return fmt::format("{} of {} in phase {}", name(e.kind), e.amount, e.phase);
}

}  // namespace

void compare_barriers(const Trace& a, const Trace& b, StructureDiff& result) {
  if (a.barrier_events.empty() || b.barrier_events.empty()) return;
  Lists lists_a = lists_of(a), lists_b = lists_of(b);
  for (const auto& [key, list] : lists_b) lists_a.try_emplace(key);
  const auto ns = [](const Trace& trace, uint64_t first, uint64_t time) {
    return (double(time) - double(first)) * 1e9 / trace.metadata.ticks_per_second;
  };
  const uint64_t first_a = first_begin(a), first_b = first_begin(b);
  for (const auto& [key, list_a] : lists_a) {
    const auto& list_b = lists_b[key];
    size_t at = 0;
    while (at < list_a.size() && at < list_b.size() && list_a[at]->amount == list_b[at]->amount &&
           list_a[at]->phase == list_b[at]->phase)
      ++at;
    result.barrier_events_compared += at;
    if (at == list_a.size() && at == list_b.size()) continue;
    const auto& [cta, barrier, kind, who] = key;
    Divergence d{.role = fmt::format("{} {}{}", barrier, name(kind), who.empty() ? "" : " by " + who),
                 .cta = cta,
                 .index = at};
    if (at < list_a.size()) d.event_a = describe(*list_a[at]), d.barrier_a = list_a[at];
    if (at < list_b.size()) d.event_b = describe(*list_b[at]), d.barrier_b = list_b[at];
    if (at == list_a.size()) {
      d.what = Divergence::What::missing;
      d.detail = d.event_b + " is missing";
    } else if (at == list_b.size()) {
      d.what = Divergence::What::extra;
      d.detail = d.event_a + " is not in B";
    } else {
      d.detail = fmt::format("{}, expected {}", d.event_a, d.event_b);
    }
    d.time_ns = at < list_b.size() ? ns(b, first_b, list_b[at]->time) : ns(a, first_a, list_a[at]->time);
    result.divergences.push_back(std::move(d));
  }
}

}  // namespace sm100::traces
