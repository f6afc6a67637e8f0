// SPDX-License-Identifier: Apache-2.0
#include "traces/format/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace sm100::traces {

namespace {

/// All that the order needs, so that sorting does not jump about in the spans.
struct SpanKey {
  uint64_t begin, end;
  uint32_t sequence, index;
  bool empty() const { return begin == end; }
};

/// At one time empty spans come first; then the outer span, which is the longer one or, for equal spans, the
/// one recorded later.
bool begins_before(const SpanKey& a, const SpanKey& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  if (a.empty() || b.empty()) {
    if (a.empty() != b.empty()) return a.empty();
    return std::tie(a.sequence, a.index) < std::tie(b.sequence, b.index);
  }
  return std::tie(b.end, b.sequence, b.index) < std::tie(a.end, a.sequence, a.index);
}

/// At one time the inner span ends first.
bool ends_before(const SpanKey& a, const SpanKey& b) {
  if (a.end != b.end) return a.end < b.end;
  return std::tie(b.begin, a.sequence, a.index) < std::tie(a.begin, b.sequence, b.index);
}

[[noreturn]] void malformed(std::string what) { throw std::runtime_error("malformed trace: " + std::move(what)); }

void check(const Trace& trace) {
  const auto good_name = [&](int index) { return index >= -1 && index < static_cast<int>(trace.names.size()); };
  const auto good_track = [&](TrackId id) { return id == kNoTrack || id < trace.tracks.size(); };
  for (size_t i = 0; i < trace.tracks.size(); ++i) {
    const Track& track = trace.tracks[i];
    if (track.id != i) malformed(fmt::format("track {} has id {}", i, track.id));
    if (track.parent != kNoTrack && track.parent >= i)
      malformed(fmt::format("the parent of track {} is not before it", i));
  }
  for (const Span& span : trace.spans) {
    if (span.track >= trace.tracks.size())
      malformed(fmt::format("a span names track {}, which does not exist", span.track));
    const std::string& track = trace.tracks[span.track].name;
    if (span.end < span.begin) {
      malformed(fmt::format("{} {} on {} begins at {} and ends at {}", name(span.kind), span.sequence, track, span.begin,
                       span.end));
    }
    if (!good_name(span.args.pipeline))
      malformed(fmt::format("a span on {} has no such name {}", track, span.args.pipeline));
    for (const int16_t word : {span.args.line, span.args.operand})
      if (!good_name(word)) malformed(fmt::format("a span on {} has no such name {}", track, word));
    if (span.args.dimensions < 0 || span.args.dimensions > 5)
      malformed(fmt::format("a span on {} has {} coordinates", track, int(span.args.dimensions)));
  }
  for (const BarrierEvent& event : trace.barrier_events) {
    if (event.track >= trace.tracks.size() || trace.tracks[event.track].kind != TrackKind::barrier) {
      malformed(fmt::format("a barrier event names track {}, which is no barrier", event.track));
    }
    if (!good_name(event.actor)) malformed(fmt::format("a barrier event has no such name {}", event.actor));
    if (!good_track(event.by)) malformed(fmt::format("a barrier event is by track {}, which does not exist", event.by));
  }
  for (const Wakeup& wakeup : trace.wakeups) {
    if (wakeup.track >= trace.tracks.size() || !good_track(wakeup.by))
      malformed(fmt::format("a wake-up at {} names a track that does not exist", wakeup.end));
    if (wakeup.end < wakeup.begin || !good_name(wakeup.reason))
      malformed(fmt::format("a wake-up at {} on {}: it waited since {}, for name {}", wakeup.end,
                       trace.tracks[wakeup.track].name, wakeup.begin, wakeup.reason));
  }
  for (const Finding& finding : trace.findings)
    if (finding.track >= trace.tracks.size())
      malformed(fmt::format("finding {} names track {}, which does not exist", finding.id, finding.track));
  for (const Finding& finding : trace.findings)
    for (const FindingMark& mark : finding.marks)
      if (mark.track >= trace.tracks.size() || !good_track(mark.barrier))
        malformed(fmt::format("a mark of finding {} names a track that does not exist", finding.id));
}

/// The open spans of one lane, outermost first, by their ends.
using Lane = std::vector<uint64_t>;

bool take(Lane& lane, const Span& span, bool may_nest) {
  while (!lane.empty() && lane.back() <= span.begin) lane.pop_back();
  if (!lane.empty() && (!may_nest || lane.back() < span.end)) return false;
  lane.push_back(span.end);
  return true;
}

void assign_lanes(const Trace& trace, const std::vector<SpanKey>& by_begin, Timeline& timeline) {
  std::vector<std::vector<Lane>> lanes(trace.tracks.size(), std::vector<Lane>(1));
  timeline.lane.resize(trace.spans.size());
  for (const SpanKey& key : by_begin) {
    const Span& span = trace.spans[key.index];
    const bool may_nest = trace.tracks[span.track].kind != TrackKind::unit;
    std::vector<Lane>& choices = lanes[span.track];
    size_t lane = 0;
    while (!take(choices[lane], span, may_nest)) {
      if (++lane == choices.size()) choices.emplace_back();
    }
    timeline.lane[key.index] = static_cast<uint32_t>(lane);
  }
  timeline.lanes.resize(trace.tracks.size());
  for (size_t t = 0; t < lanes.size(); ++t) timeline.lanes[t] = static_cast<uint32_t>(lanes[t].size());
}

struct Instant {
  uint64_t time;
  TimelineEvent event;
};

std::vector<Instant> instants_of(const Trace& trace) {
  std::vector<Instant> instants;
  instants.reserve(trace.barrier_events.size() + trace.wakeups.size() + trace.findings.size());
  for (uint32_t i = 0; i < trace.barrier_events.size(); ++i)
    instants.push_back({trace.barrier_events[i].time, {TimelineEvent::barrier, i}});
  for (uint32_t i = 0; i < trace.wakeups.size(); ++i)
    instants.push_back({trace.wakeups[i].end, {TimelineEvent::wakeup, i}});
  for (uint32_t i = 0; i < trace.findings.size(); ++i)
    instants.push_back({trace.findings[i].time, {TimelineEvent::finding, i}});
  std::stable_sort(instants.begin(), instants.end(),
                   [](const Instant& a, const Instant& b) { return a.time < b.time; });
  return instants;
}

/// Merges instants, ends and begins.
std::vector<TimelineEvent> merge(const std::vector<SpanKey>& by_begin, const std::vector<SpanKey>& by_end,
                                 const std::vector<Instant>& instants) {
  std::vector<TimelineEvent> events;
  events.reserve(2 * by_begin.size() + instants.size());
  auto begin = by_begin.begin();
  auto end = by_end.begin();
  auto instant = instants.begin();
  while (begin != by_begin.end() || end != by_end.end() || instant != instants.end()) {
    const uint64_t next_begin = begin != by_begin.end() ? begin->begin : UINT64_MAX;
    const uint64_t next_end = end != by_end.end() ? end->end : UINT64_MAX;
    if (instant != instants.end() && instant->time <= next_begin && instant->time <= next_end) {
      events.push_back((instant++)->event);
    } else if (end != by_end.end() && next_end <= next_begin) {
      events.push_back({TimelineEvent::end, (end++)->index});
    } else {
      events.push_back({TimelineEvent::begin, begin->index});
      if (begin->empty()) events.push_back({TimelineEvent::end, begin->index});
      ++begin;
    }
  }
  return events;
}

}  // namespace

Timeline make_timeline(const Trace& trace) {
  check(trace);
  std::vector<SpanKey> by_begin, by_end;
  by_begin.reserve(trace.spans.size());
  by_end.reserve(trace.spans.size());
  for (size_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    by_begin.push_back({span.begin, span.end, span.sequence, static_cast<uint32_t>(i)});
    if (span.begin != span.end) by_end.push_back(by_begin.back());
  }
  std::sort(by_begin.begin(), by_begin.end(), begins_before);
  std::sort(by_end.begin(), by_end.end(), ends_before);

  Timeline timeline;
  assign_lanes(trace, by_begin, timeline);
  timeline.events = merge(by_begin, by_end, instants_of(trace));
  return timeline;
}

}  // namespace sm100::traces
