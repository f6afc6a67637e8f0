// SPDX-License-Identifier: Apache-2.0
#include "traces/html/trace_data.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "traces/analysis/critical_path.h"
#include "traces/format/timeline.h"
#include "traces/html/columns.h"

namespace sm100::traces {
namespace {

using nlohmann::json;

template <class Kind>
json kind_names(int count) {
  json names = json::array();
  for (int i = 0; i < count; ++i) names.push_back(name(static_cast<Kind>(i)));
  return names;
}

/// The earliest time in the trace: the columns count from it, because a page's numbers are exact up to 2^53 only.
uint64_t origin_of(const Trace& trace) {
  uint64_t first = UINT64_MAX;
  for (const Span& span : trace.spans) first = std::min(first, span.begin);
  for (const BarrierEvent& event : trace.barrier_events) first = std::min(first, event.time);
  for (const Wakeup& wakeup : trace.wakeups) first = std::min(first, wakeup.begin);
  for (const Finding& finding : trace.findings) first = std::min(first, finding.time);
  return first == UINT64_MAX ? 0 : first;
}

int64_t row_of(TrackId track) { return track == kNoTrack ? -1 : int64_t(track); }

json marks_of(const Finding& finding, uint64_t origin) {
  json marks = json::array();
  for (const FindingMark& m : finding.marks)
    marks.push_back({{"what", name(m.what)},
                     {"track", row_of(m.track)},
                     {"time", int64_t(m.time - origin)},
                     {"barrier", row_of(m.barrier)},
                     {"line", m.line},
                     {"text", m.text}});
  return marks;
}

json findings_of(const Trace& trace, uint64_t origin) {
  json findings = json::array();
  for (const Finding& f : trace.findings)
    findings.push_back({{"time", f.time - origin},
                        {"track", row_of(f.track)},
                        {"id", f.id},
                        {"warning", f.warning},
                        {"message", f.message},
                        {"report", f.report},
                        {"marks", marks_of(f, origin)}});
  return findings;
}

json header_of(const Trace& trace, const std::string& name) {
  const Metadata& m = trace.metadata;
  const json configuration = json::parse(m.configuration, nullptr, false);
  json tracks = json::array();
  for (const Track& t : trace.tracks)
    tracks.push_back({int(t.kind), t.name, row_of(t.parent), t.sm, t.cta, t.warp, t.cluster, t.rank});
  return {{"name", name},
          {"origin", origin_of(trace)},
          {"findings", findings_of(trace, origin_of(trace))},
          {"metadata",
           {{"source", m.source},
            {"device", m.device},
            {"scenario", m.scenario},
            {"tool_version", m.tool_version},
            {"outcome", m.outcome},
            {"verdict", m.verdict},
            {"ticks_per_second", m.ticks_per_second},
            {"seed", m.seed},
            {"dropped_events", m.dropped_events},
            {"run_ticks", m.run_ticks},
            {"part", m.part},
            {"configuration", configuration.is_object() ? configuration : json::object()}}},
          {"names", trace.names},
          {"track_kinds", kind_names<TrackKind>(kTrackKinds)},
          {"span_kinds", kind_names<SpanKind>(kSpanKinds)},
          {"barrier_event_kinds", kind_names<BarrierEventKind>(kBarrierEventKinds)},
          {"tracks", tracks}};
}

/// Indices of a vector in the order that `before` says, and the position of each.
template <class Event, class Before>
std::vector<uint32_t> order_of(const std::vector<Event>& events, Before before, std::vector<uint32_t>& position) {
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return before(events[a], events[b]); });
  position.resize(events.size());
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<uint32_t>(i);
  return order;
}

/// An outer span begins no later, ends no earlier and is recorded later.
bool stands_before(const Span& a, const Span& b) {
  return std::tie(a.track, a.begin, b.end, b.sequence) < std::tie(b.track, b.begin, a.end, a.sequence);
}

/// Small numbers for a trace's flow ids, in order of appearance.
class FlowNumbers {
 public:
  uint32_t of(uint64_t flow) {
    if (flow == 0) return 0;
    return numbers_.try_emplace(flow, static_cast<uint32_t>(numbers_.size()) + 1).first->second;
  }

 private:
  std::unordered_map<uint64_t, uint32_t> numbers_;
};

/// Only simulated runs have one; a page of another trace goes without.
void add_critical_path(const Trace& trace, uint64_t origin, const std::vector<uint32_t>& span_position,
                       json& header, ColumnWriter& columns) {
  CriticalPath path;
  try {
    path = critical_path(trace);
  } catch (const std::runtime_error&) { return; }
  json kinds = json::array(), shares = json::array();
  for (int i = 0; i < kDependencies; ++i) kinds.push_back(traces::name(static_cast<Dependency>(i)));
  for (const PathShare& share : path.shares)
    shares.push_back({int(share.kind), share.track, share.pipeline, share.ticks, share.segments});
  header["path"] = {{"verdict", path.verdict}, {"kinds", kinds}, {"shares", shares}, {"ticks", path.ticks()}};
  const auto path_column = [&](std::string_view column, auto value) {
    columns.column(column, path.segments.size(), [&](size_t i) { return value(path.segments[i]); });
  };
  path_column("path.begin", [&](const PathSegment& s) { return s.begin - origin; });
  path_column("path.duration", [](const PathSegment& s) { return s.end - s.begin; });
  path_column("path.track", [](const PathSegment& s) { return row_of(s.track); });
  path_column("path.kind", [](const PathSegment& s) { return int(s.kind); });
  path_column("path.pipeline", [](const PathSegment& s) { return s.pipeline; });
  path_column("path.stage", [](const PathSegment& s) { return s.stage; });
  path_column("path.span",
              [&](const PathSegment& s) { return s.span == kNoSpan ? -1 : int64_t(span_position[s.span]); });
}

}  // namespace

TraceData make_trace_data(const Trace& trace, const std::string& name) {
  const Timeline timeline = make_timeline(trace);
  TraceData data;
  const std::vector<uint32_t> spans = order_of(trace.spans, stands_before, data.span_position);
  const std::vector<uint32_t> events = order_of(
      trace.barrier_events,
      [](const BarrierEvent& a, const BarrierEvent& b) {
        return std::tie(a.track, a.time) < std::tie(b.track, b.time);
      },
      data.barrier_position);

  const uint64_t origin = origin_of(trace);
  ColumnWriter columns;
  FlowNumbers flows;
  const auto span_column = [&](std::string_view column, auto value) {
    columns.column(column, spans.size(), [&](size_t i) { return value(trace.spans[spans[i]]); });
  };
  span_column("span.track", [](const Span& s) { return s.track; });
  span_column("span.kind", [](const Span& s) { return int(s.kind); });
  span_column("span.begin", [&](const Span& s) { return s.begin - origin; });
  span_column("span.duration", [](const Span& s) { return s.end - s.begin; });
  span_column("span.pipeline", [](const Span& s) { return s.args.pipeline; });
  span_column("span.stage", [](const Span& s) { return s.args.stage; });
  span_column("span.phase", [](const Span& s) { return s.args.phase; });
  span_column("span.tile_m", [](const Span& s) { return s.args.tile_m; });
  span_column("span.tile_n", [](const Span& s) { return s.args.tile_n; });
  span_column("span.tile_k", [](const Span& s) { return s.args.tile_k; });
  span_column("span.k", [](const Span& s) { return s.args.k; });
  span_column("span.bytes", [](const Span& s) { return s.args.bytes; });
  span_column("span.column", [](const Span& s) { return s.args.column; });
  span_column("span.columns", [](const Span& s) { return s.args.columns; });
  span_column("span.line", [](const Span& s) { return s.args.line; });
  span_column("span.operand", [](const Span& s) { return s.args.operand; });
  span_column("span.multicast", [](const Span& s) { return s.args.multicast; });
  span_column("span.dimensions", [](const Span& s) { return s.args.dimensions; });
  for (size_t d = 0; d < 5; ++d)
    span_column("span.coordinate_" + std::to_string(d), [&](const Span& s) { return s.args.coordinates[d]; });
  span_column("span.flow_in", [&](const Span& s) { return flows.of(s.flow_in); });
  span_column("span.flow_out", [&](const Span& s) { return flows.of(s.flow_out); });
  columns.column("span.lane", spans.size(), [&](size_t i) { return timeline.lane[spans[i]]; });

  const auto event_column = [&](std::string_view column, auto value) {
    columns.column(column, events.size(), [&](size_t i) { return value(trace.barrier_events[events[i]]); });
  };
  event_column("event.track", [](const BarrierEvent& e) { return e.track; });
  event_column("event.kind", [](const BarrierEvent& e) { return int(e.kind); });
  event_column("event.time", [&](const BarrierEvent& e) { return e.time - origin; });
  event_column("event.actor", [](const BarrierEvent& e) { return e.actor; });
  event_column("event.phase", [](const BarrierEvent& e) { return e.phase; });
  event_column("event.pending", [](const BarrierEvent& e) { return e.pending; });
  event_column("event.tx", [](const BarrierEvent& e) { return e.tx; });
  event_column("event.amount", [](const BarrierEvent& e) { return e.amount; });
  event_column("event.by", [](const BarrierEvent& e) { return row_of(e.by); });
  event_column("event.flow", [&](const BarrierEvent& e) { return flows.of(e.flow); });

  std::vector<uint32_t> ignored;
  const std::vector<uint32_t> wakeups = order_of(
      trace.wakeups,
      [](const Wakeup& a, const Wakeup& b) { return std::tie(a.track, a.begin) < std::tie(b.track, b.begin); },
      ignored);
  const auto wakeup_column = [&](std::string_view column, auto value) {
    columns.column(column, wakeups.size(), [&](size_t i) { return value(trace.wakeups[wakeups[i]]); });
  };
  wakeup_column("wakeup.track", [](const Wakeup& w) { return w.track; });
  wakeup_column("wakeup.begin", [&](const Wakeup& w) { return w.begin - origin; });
  wakeup_column("wakeup.duration", [](const Wakeup& w) { return w.end - w.begin; });
  wakeup_column("wakeup.reason", [](const Wakeup& w) { return w.reason; });
  wakeup_column("wakeup.by", [](const Wakeup& w) { return row_of(w.by); });

  json header = header_of(trace, name);
  add_critical_path(trace, origin, data.span_position, header, columns);
  data.base64 = columns.base64(std::move(header));
  return data;
}

}  // namespace sm100::traces
