// SPDX-License-Identifier: Apache-2.0
#include "sim/finding_record.h"

#include <algorithm>
#include <optional>

#include "sim/text.h"

namespace sm100::sim {

using traces::BarrierEvent;
using traces::BarrierEventKind;
using traces::FindingMark;
using traces::kNoTrack;
using traces::Trace;
using traces::TrackId;

namespace {

/// "input_full" of the track "input_full[2]".
std::string_view array_of(const Trace& trace, TrackId barrier) {
  const std::string_view name = trace.tracks[barrier].name;
  return name.substr(0, name.find('['));
}

/// When the warp last signalled or armed the barrier; else one of its array, of whatever CTA.
std::optional<uint64_t> last_delivery(const Trace& trace, TrackId warp, TrackId barrier) {
  std::optional<uint64_t> of_array;
  for (auto e = trace.barrier_events.rbegin(); e != trace.barrier_events.rend(); ++e) {
    if (e->by != warp || (e->kind != BarrierEventKind::arrive && e->kind != BarrierEventKind::expect_tx)) continue;
    if (e->track == barrier) return e->time - e->delay;
    if (!of_array && array_of(trace, e->track) == array_of(trace, barrier)) of_array = e->time - e->delay;
  }
  return of_array;
}

/// When the warp ended the last thing that it recorded, before the wait that it may be in.
std::optional<uint64_t> last_step(const Trace& trace, TrackId warp, uint64_t before) {
  std::optional<uint64_t> last;
  for (const traces::Span& span : trace.spans)
    if (span.track == warp && span.end <= before && span.end >= last.value_or(0)) last = span.end;
  return last;
}

}  // namespace

void record_finding(RunObserver& observer, const models::Violation& v, const Finding& f, std::string report) {
  if (!observer.recorder()) return;
  TrackId track = observer.role_track(f.cta, v.source.warp);
  if (track == kNoTrack && v.barrier != 0) track = observer.barrier_track(v.slot, v.barrier);
  if (track == kNoTrack) track = observer.cta_track(v.slot);
  std::vector<FindingMark> marks;
  for (const models::Place& place : v.places) {
    const TrackId at = observer.role_track(place.source.cta, place.source.warp);
    if (at == kNoTrack) continue;
    marks.push_back({.what = &place == &v.places.front() ? FindingMark::What::first : FindingMark::What::second,
                     .track = at,
                     .time = place.time,
                     .line = line_of(place.source.loc),
                     .text = place.text});
  }
  observer.recorder()->finding({v.time, track, f.id, v.warning, f.message, std::move(report), std::move(marks)});
}

void record_hang(RunObserver& observer, const HangReport& hang, models::Cycles cycle) {
  if (!observer.recorder()) return;
  const Trace& trace = observer.recorder()->trace();
  TrackId track = 0;  // the GPU's: nobody is named, or no CTA runs
  std::vector<FindingMark> marks;
  for (const HangMark& m : hang.marks) {
    const TrackId warp = observer.role_track(m.cta, m.warp);
    if (warp == kNoTrack) continue;
    FindingMark mark{.what = m.what, .track = warp, .time = m.time, .line = m.line, .text = m.text};
    if (m.barrier != 0) mark.barrier = observer.barrier_track(m.slot, m.barrier);
    if (m.what == FindingMark::What::root && track == 0) track = warp;
    if (m.what == FindingMark::What::fault) {
      const std::optional<uint64_t> delivered =
          mark.barrier == kNoTrack ? std::nullopt : last_delivery(trace, warp, mark.barrier);
      mark.time = delivered ? *delivered : last_step(trace, warp, m.time).value_or(m.time);
    }
    marks.push_back(std::move(mark));
  }
  observer.recorder()->finding(
      {cycle, track, hang.finding.id, false, hang.finding.message, hang.text, std::move(marks)});
}

namespace {

/// The report of each cause: a line, and those below it that are set in.
std::vector<std::string> reports_of(const ProvenanceResult& provenance) {
  std::vector<std::string> reports;
  for (size_t at = 0; at < provenance.report.size();) {
    const size_t end = std::min(provenance.report.find('\n', at), provenance.report.size());
    const std::string line = provenance.report.substr(at, end - at) + "\n";
    if (line.starts_with("  ") && !reports.empty())
      reports.back() += line;
    else
      reports.push_back(line);
    at = end + 1;
  }
  return reports;
}

/// When a unit first did what the line asked for, for a CTA's role.
std::optional<uint64_t> first_of_line(const Trace& trace, TrackId cta, const std::string& line) {
  std::optional<uint64_t> first;
  for (const traces::Span& span : trace.spans)
    if (trace.tracks[span.track].parent == cta && span.args.line >= 0 &&
        trace.names[size_t(span.args.line)] == line && span.begin <= first.value_or(span.begin))
      first = span.begin;
  return first;
}

}  // namespace

void record_provenance(RunObserver& observer, const LaunchList& launches, const RunResult& result) {
  if (!observer.recorder()) return;
  const ProvenanceResult& provenance = result.provenance;
  const std::vector<std::string> reports = reports_of(provenance);
  for (size_t i = 0; i < provenance.causes.size(); ++i) {
    const Finding& f = provenance.causes[i];
    int warp = -1;
    if (f.cta >= 0) {
      const std::vector<std::string>& roles = launches.kernel_of_cta(f.cta).roles;
      if (const auto role = std::find(roles.begin(), roles.end(), f.role); role != roles.end())
        warp = int(role - roles.begin());
    }
    const Trace& trace = observer.recorder()->trace();
    const TrackId role = observer.role_track(f.cta, warp);
    const uint64_t time = role == kNoTrack
                              ? result.cycles
                              : first_of_line(trace, trace.tracks[role].parent, f.location).value_or(result.cycles);
    std::vector<FindingMark> marks;
    if (role != kNoTrack)
      marks.push_back(
          {.what = FindingMark::What::fault, .track = role, .time = time, .line = f.location, .text = f.message});
    observer.recorder()->finding({time, role == kNoTrack ? 0 : role, f.id, f.id == "PV3", f.message,
                                  i < reports.size() ? reports[i] : provenance.report, std::move(marks)});
  }
}

}  // namespace sm100::sim
