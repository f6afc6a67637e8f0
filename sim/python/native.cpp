// SPDX-License-Identifier: Apache-2.0
/// Trace files for Python: tables as NumPy arrays with a column for each field.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "traces/format/pftrace.h"

namespace py = pybind11;
using namespace pybind11::literals;
using namespace sm100::traces;

namespace {

struct SpanRow {
  uint64_t begin, end;
  uint32_t track, sequence;
  int32_t kind, pipeline, stage, phase, tile_m, tile_n, tile_k, k, column, columns, line, operand, multicast;
  int64_t bytes;
};

struct BarrierRow {
  uint64_t time;
  uint32_t track;
  int32_t kind, actor, phase, pending, tx, amount;
  int64_t by;
  uint32_t delay;
};

struct WakeupRow {
  uint64_t begin, end;
  uint32_t track;
  int32_t reason;
  int64_t by;
  uint64_t caused;
};

/// A track's id; -1 if there is none.
int64_t id_or_none(TrackId id) { return id == kNoTrack ? -1 : int64_t(id); }

template <typename Row, typename Event, typename Convert>
py::array_t<Row> table(const std::vector<Event>& events, Convert convert) {
  py::array_t<Row> rows(py::ssize_t(events.size()));
  Row* out = rows.mutable_data();
  for (const Event& event : events) *out++ = convert(event);
  return rows;
}

SpanRow row_of(const Span& s) {
  const SpanArgs& a = s.args;
  return {s.begin,  s.end,    s.track, s.sequence, int32_t(s.kind), a.pipeline, a.stage,   a.phase,     a.tile_m,
          a.tile_n, a.tile_k, a.k,     a.column,   a.columns,       a.line,     a.operand, a.multicast, a.bytes};
}

BarrierRow row_of(const BarrierEvent& e) {
  return {e.time, e.track, int32_t(e.kind), e.actor, e.phase, e.pending, e.tx, e.amount, id_or_none(e.by), e.delay};
}

WakeupRow row_of(const Wakeup& w) { return {w.begin, w.end, w.track, w.reason, id_or_none(w.by), w.caused}; }

py::list tracks_of(const Trace& trace) {
  py::list tracks;
  for (const Track& t : trace.tracks)
    tracks.append(py::dict("kind"_a = std::string(name(t.kind)), "name"_a = t.name,
                           "parent"_a = id_or_none(t.parent), "sm"_a = t.sm, "cta"_a = t.cta, "warp"_a = t.warp,
                           "cluster"_a = t.cluster, "rank"_a = t.rank));
  return tracks;
}

py::list findings_of(const Trace& trace) {
  py::list findings;
  for (const Finding& f : trace.findings)
    findings.append(py::dict("time"_a = f.time, "track"_a = id_or_none(f.track), "id"_a = f.id,
                             "warning"_a = f.warning, "message"_a = f.message, "report"_a = f.report));
  return findings;
}

template <typename Kind>
py::list names_of_kinds(int count) {
  py::list names;
  for (int i = 0; i < count; ++i) names.append(std::string(name(static_cast<Kind>(i))));
  return names;
}

py::dict read_trace(const std::string& file) {
  const Trace trace = [&] {
    const py::gil_scoped_release others_may_run;
    return read_pftrace(file);
  }();
  const Metadata& m = trace.metadata;
  return py::dict(
      "metadata"_a = py::dict(
          "source"_a = m.source, "device"_a = m.device, "scenario"_a = m.scenario,
          "configuration"_a =
              py::module_::import("json").attr("loads")(m.configuration.empty() ? "null" : m.configuration),
          "tool_version"_a = m.tool_version, "outcome"_a = m.outcome, "verdict"_a = m.verdict,
          "ticks_per_second"_a = m.ticks_per_second, "seed"_a = m.seed, "dropped_events"_a = m.dropped_events,
          "run_ticks"_a = run_length(trace), "part"_a = m.part),
      "names"_a = trace.names, "span_kinds"_a = names_of_kinds<SpanKind>(kSpanKinds),
      "barrier_event_kinds"_a = names_of_kinds<BarrierEventKind>(kBarrierEventKinds), "tracks"_a = tracks_of(trace),
      "spans"_a = table<SpanRow>(trace.spans, [](const Span& s) { return row_of(s); }),
      "barrier_events"_a = table<BarrierRow>(trace.barrier_events, [](const BarrierEvent& e) { return row_of(e); }),
      "wakeups"_a = table<WakeupRow>(trace.wakeups, [](const Wakeup& w) { return row_of(w); }),
      "findings"_a = findings_of(trace));
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  PYBIND11_NUMPY_DTYPE(SpanRow, begin, end, track, sequence, kind, pipeline, stage, phase, tile_m, tile_n, tile_k,
                       k, column, columns, line, operand, multicast, bytes);
  PYBIND11_NUMPY_DTYPE(BarrierRow, time, track, kind, actor, phase, pending, tx, amount, by, delay);
  PYBIND11_NUMPY_DTYPE(WakeupRow, begin, end, track, reason, by, caused);
  module.def("read_trace", &read_trace, py::arg("file"), "A trace file as lists and NumPy arrays.");
}
