// SPDX-License-Identifier: Apache-2.0
#include "traces/diff/alignment.h"

#include <fmt/format.h>

#include <algorithm>

namespace sm100::traces {
namespace {

bool contains_others(SpanKind kind) { return kind == SpanKind::tile || kind == SpanKind::drain; }

EventMeaning meaning_of(const Trace& trace, const Span& span) {
  const SpanArgs& a = span.args;
  return {.kind = span.kind,
          .pipeline = a.pipeline == kNoName ? "" : trace.names[size_t(a.pipeline)],
          .stage = a.stage,
          .phase = a.phase,
          .tile_m = a.tile_m,
          .tile_n = a.tile_n,
          .tile_k = a.tile_k,
          .k = a.k,
          .bytes = a.bytes};
}

/// How often the events of one sort were certainly inside a tile, less how often certainly outside.
using InsideVotes = std::map<std::tuple<std::string, SpanKind, std::string>, int>;  // role, kind, pipeline

/// A coarse timer may show an event that ended before its tile began as one without length at the tile's begin.
bool may_precede(const Span& event, const Span& tile) {
  return event.begin == tile.begin && event.end == tile.begin;
}

/// Leaves of one track in program order, each with its tile.  Counts what is certain; where a coarse timer leaves
/// it open whether an event belongs to the tile, the votes decide: role code has it always inside or always
/// outside.
void fill_track(const Trace& trace, const std::vector<const Span*>& spans, const InsideVotes& votes,
                InsideVotes& count, RoleTrack& track) {
  const auto sort_of = [&](const RoleEvent& e) {
    return std::tuple(track.role, e.meaning.kind, e.meaning.pipeline);
  };
  track.events.clear(), track.tiles.clear(), track.containers.clear();
  size_t first_open = 0;  // events before it already belong to a tile, or to none
  for (const Span* span : spans) {
    if (!contains_others(span->kind)) {
      track.events.push_back({span, meaning_of(trace, *span), -1});
      continue;
    }
    // A container ends after what it contains.
    size_t begin = track.events.size();
    while (begin > first_open && track.events[begin - 1].span->begin >= span->begin) --begin;
    for (size_t i = first_open; i < begin; ++i) --count[sort_of(track.events[i])];
    for (size_t i = begin; i < track.events.size(); ++i)
      if (!may_precede(*track.events[i].span, *span)) ++count[sort_of(track.events[i])];
    const auto outside = [&](const RoleEvent& e) {
      const auto vote = votes.find(sort_of(e));
      return may_precede(*e.span, *span) && vote != votes.end() && vote->second < 0;
    };
    while (begin < track.events.size() && outside(track.events[begin])) ++begin;
    if (span->kind == SpanKind::tile) {
      const int number = int(track.tiles.size());
      track.tiles.emplace_back(span->args.tile_m, span->args.tile_n, span->args.tile_k);
      for (size_t i = begin; i < track.events.size(); ++i) {
        RoleEvent& event = track.events[i];
        event.tile = number;
        // An inner span need not repeat what its tile says.
        event.meaning.tile_m = span->args.tile_m;
        event.meaning.tile_n = span->args.tile_n;
        event.meaning.tile_k = span->args.tile_k;
      }
      if (begin == track.events.size()) track.events.push_back({span, meaning_of(trace, *span), number});
    }
    if (track.events.empty() || track.events.back().span != span) track.containers.push_back(span);
    first_open = track.events.size();
  }
}

}  // namespace

RoleTracks role_tracks(const Trace& trace) {
  std::vector<std::vector<const Span*>> by_track(trace.tracks.size());
  for (const Span& span : trace.spans) by_track[span.track].push_back(&span);
  for (auto& spans : by_track)
    std::sort(spans.begin(), spans.end(), [](const Span* a, const Span* b) { return a->sequence < b->sequence; });
  RoleTracks tracks;
  InsideVotes none, votes, ignored;
  const auto fill = [&](const InsideVotes& from, InsideVotes& count) {
    for (const Track& t : trace.tracks) {
      if (t.kind != TrackKind::role) continue;
      RoleTrack& track = tracks[{t.cta, t.warp, t.name}];
      track.role = t.name, track.cta = t.cta, track.warp = t.warp, track.sm = t.sm;
      fill_track(trace, by_track[t.id], from, count, track);
    }
  };
  fill(none, votes);
  fill(votes, ignored);
  return tracks;
}

std::string describe(const EventMeaning& m) {
  std::string text(name(m.kind));
  if (!m.pipeline.empty()) text += " " + m.pipeline;
  if (m.stage >= 0) text += fmt::format(" stage {}", m.stage);
  if (m.phase >= 0) text += fmt::format(" phase {}", m.phase);
  if (m.k >= 0) text += fmt::format(" k {}", m.k);
  if (m.bytes >= 0) text += fmt::format(" {} bytes", m.bytes);
  if (m.tile_m >= 0 || m.tile_n >= 0) text += fmt::format(", tile ({}, {})", m.tile_m, m.tile_n);
  if (m.tile_k > 0) text += fmt::format(" split {}", m.tile_k);
  return text;
}

std::string difference(const EventMeaning& a, const EventMeaning& b) {
  if (a.kind != b.kind) return fmt::format("{}, expected {}", name(a.kind), name(b.kind));
  if (a.pipeline != b.pipeline)
    return fmt::format("pipeline {}, expected {}", a.pipeline.empty() ? "none" : a.pipeline,
                       b.pipeline.empty() ? "none" : b.pipeline);
  const std::tuple<const char*, int64_t, int64_t> fields[] = {
      {"tile_m", a.tile_m, b.tile_m}, {"tile_n", a.tile_n, b.tile_n},
      {"tile_k", a.tile_k, b.tile_k}, {"k", a.k, b.k},
      {"stage", a.stage, b.stage},    {"phase", a.phase, b.phase},
      {"bytes", a.bytes, b.bytes}};
  for (const auto& [field, is, expected] : fields)
    if (is != expected) return fmt::format("{} {}, expected {}", field, is, expected);
  return "";
}

}  // namespace sm100::traces
