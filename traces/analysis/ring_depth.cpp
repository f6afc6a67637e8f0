// SPDX-License-Identifier: Apache-2.0
#include "traces/analysis/ring_depth.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace sm100::traces {

namespace {

/// By nearest rank; 0 of nothing.
uint64_t rank(std::vector<uint64_t>& values, size_t hundredths) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[(values.size() * hundredths + 99) / 100 - (hundredths > 0 ? 1 : 0)];
}

/// The phases of one barrier.
struct Phases {
  uint64_t armed = 0, completed = 0;  ///< of the phase at hand, of the one before
  bool is_armed = false, has_completed = false;
};

/// Ticks in which an MMA of a CTA was in flight.
std::map<int, uint64_t> tensor_time(const Trace& trace) {
  std::map<int, std::vector<std::pair<uint64_t, uint64_t>>> spans;
  for (const Span& span : trace.spans)
    if (span.kind == SpanKind::umma) spans[trace.tracks[span.track].cta].push_back({span.begin, span.end});
  std::map<int, uint64_t> busy;
  for (auto& [cta, of_cta] : spans) {
    std::sort(of_cta.begin(), of_cta.end());
    uint64_t until = 0;
    for (const auto& [begin, end] : of_cta) {
      if (end > until) busy[cta] += end - std::max(begin, until);
      until = std::max(until, end);
    }
  }
  return busy;
}

}  // namespace

std::optional<RingDepth> ring_depth(const Trace& trace, const std::string& array) {
  RingDepth ring;
  std::set<std::string> names;
  std::vector<uint8_t> of_ring(trace.tracks.size(), 0);
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::barrier && track.name.starts_with(array + "[")) {
      of_ring[track.id] = 1;
      names.insert(track.name);
    }
  ring.stages = static_cast<int>(names.size());

  std::vector<uint64_t> fills, turnarounds;
  std::map<int, uint64_t> fills_of;  // by CTA
  std::map<TrackId, Phases> phases;
  uint64_t bytes = 0;
  for (const BarrierEvent& event : trace.barrier_events) {
    if (!of_ring[event.track]) continue;
    Phases& p = phases[event.track];
    if (event.kind == BarrierEventKind::complete_tx) bytes += static_cast<uint64_t>(std::max(event.amount, 0));
    if (event.kind == BarrierEventKind::expect_tx && !p.is_armed) {
      if (p.has_completed) turnarounds.push_back(event.time - p.completed);
      p.armed = event.time, p.is_armed = true;
    }
    if (event.kind == BarrierEventKind::phase_complete && p.is_armed) {
      fills.push_back(event.time - p.armed);
      ++fills_of[trace.tracks[event.track].cta];
      p.completed = event.time, p.has_completed = true, p.is_armed = false;
    }
  }
  uint64_t busy = 0, used = 0;  // of CTAs that issue MMAs: the second CTA of a pair does not
  for (const auto& [cta, ticks] : tensor_time(trace))
    if (const auto found = fills_of.find(cta); found != fills_of.end()) busy += ticks, used += found->second;
  if (fills.size() < 4 || turnarounds.empty() || used == 0 || busy == 0 || bytes == 0) return std::nullopt;
  ring.bytes = bytes / fills.size();
  ring.use = std::max<uint64_t>(1, busy / used);
  ring.fastest_fill = rank(fills, 10);
  ring.fill = rank(fills, 50);
  ring.turnaround = rank(turnarounds, 10);
  return ring;
}

}  // namespace sm100::traces
