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

}  // namespace sm100::sim
