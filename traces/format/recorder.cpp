// SPDX-License-Identifier: Apache-2.0
#include "traces/format/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "traces/format/numbers.h"

namespace sm100::traces {

bool Selection::has_sm(int sm) const {
  return sms.empty() || std::any_of(sms.begin(), sms.end(),
                                    [&](const auto& range) { return range.first <= sm && sm <= range.second; });
}

std::string Selection::text() const {
  std::string text;
  for (const auto& [from, to] : sms)
    text += (text.empty() ? "SMs " : ", ") + (from == to ? std::to_string(from) : fmt::format("{}-{}", from, to));
  if (begin == 0 && end == UINT64_MAX) return text;
  if (!text.empty()) text += ", ";
  return text + (end == UINT64_MAX ? fmt::format("cycles from {}", grouped(begin))
                                   : fmt::format("cycles {} to {}", grouped(begin), grouped(end)));
}

TrackId Recorder::add_track(TrackKind kind, std::string_view name, TrackId parent, int sm, int cta, int warp) {
  const TrackId id = static_cast<TrackId>(trace_.tracks.size());
  if (parent != kNoTrack && parent >= id) throw std::invalid_argument("add_track: the parent is not a track yet");
  trace_.tracks.push_back({id, kind, std::string(name), parent, sm, cta, warp});
  next_sequence_.push_back(0);
  selected_.push_back(sm < 0 || selection_.has_sm(sm));
  return id;
}

void Recorder::finish() {
  if (!selecting_) return;
  trace_.metadata.part = selection_.text();

  // A CTA's tracks stay together if something was recorded of one of them.
  std::vector<uint8_t> keep(trace_.tracks.size(), 0);
  const auto keep_family = [&](TrackId track) {
    for (TrackId t = track; t != kNoTrack && !keep[t]; t = trace_.tracks[t].parent) keep[t] = 1;
  };
  for (const Span& span : trace_.spans) keep_family(span.track);
  for (const BarrierEvent& event : trace_.barrier_events) keep_family(event.track);
  for (const Wakeup& wakeup : trace_.wakeups) keep_family(wakeup.track);
  for (const Finding& finding : trace_.findings) keep_family(finding.track);
  for (const Track& track : trace_.tracks)
    if (track.parent == kNoTrack || (track.kind != TrackKind::cta && keep[track.parent])) keep[track.id] = 1;

  std::vector<TrackId> now(trace_.tracks.size(), kNoTrack);
  std::vector<Track> kept;
  for (Track& track : trace_.tracks) {
    if (!keep[track.id]) continue;
    now[track.id] = static_cast<TrackId>(kept.size());
    if (track.parent != kNoTrack) track.parent = now[track.parent];
    kept.push_back(std::move(track));
    kept.back().id = static_cast<TrackId>(kept.size() - 1);
  }
  trace_.tracks = std::move(kept);
  const auto renumber = [&](TrackId& track) {
    if (track != kNoTrack) track = now[track];
  };
  for (Span& span : trace_.spans) renumber(span.track);
  for (BarrierEvent& event : trace_.barrier_events) renumber(event.track), renumber(event.by);
  for (Wakeup& wakeup : trace_.wakeups) renumber(wakeup.track), renumber(wakeup.by);
  for (Finding& finding : trace_.findings) renumber(finding.track);
  selecting_ = false;
}

int16_t Recorder::intern(std::string_view name) {
  if (auto found = name_index_.find(name); found != name_index_.end()) return found->second;
  if (trace_.names.size() > static_cast<size_t>(std::numeric_limits<int16_t>::max())) {
    throw std::length_error("intern: a trace holds at most 32768 names");
  }
  const int16_t index = static_cast<int16_t>(trace_.names.size());
  trace_.names.emplace_back(name);
  name_index_.emplace(name, index);
  return index;
}

}  // namespace sm100::traces
