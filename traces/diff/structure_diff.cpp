// SPDX-License-Identifier: Apache-2.0
#include "traces/diff/structure_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "traces/diff/barrier_diff.h"

namespace sm100::traces {
namespace {

using Events = std::vector<RoleEvent>;

std::string track_name(const RoleTrack& t) { return fmt::format("{} of CTA {} (warp {})", t.role, t.cta, t.warp); }

// ---- fields that one side never records are not compared

struct Field {
  const char* name;
  bool (*present)(const EventMeaning&);
  void (*erase)(EventMeaning&);
};
constexpr Field kFields[] = {
    {"pipeline", [](const EventMeaning& m) { return !m.pipeline.empty(); },
     [](EventMeaning& m) { m.pipeline = ""; }},
    {"stage", [](const EventMeaning& m) { return m.stage >= 0; }, [](EventMeaning& m) { m.stage = -1; }},
    {"phase", [](const EventMeaning& m) { return m.phase >= 0; }, [](EventMeaning& m) { m.phase = -1; }},
    {"tile", [](const EventMeaning& m) { return m.tile_m >= 0 || m.tile_n >= 0; },
     [](EventMeaning& m) { m.tile_m = m.tile_n = -1; }},
    {"tile_k", [](const EventMeaning& m) { return m.tile_k >= 0; }, [](EventMeaning& m) { m.tile_k = -1; }},
    {"k", [](const EventMeaning& m) { return m.k >= 0; }, [](EventMeaning& m) { m.k = -1; }},
    {"bytes", [](const EventMeaning& m) { return m.bytes >= 0; }, [](EventMeaning& m) { m.bytes = -1; }},
};

/// Per kind and field: does the trace ever record it?
std::set<std::pair<SpanKind, size_t>> recorded_fields(const RoleTracks& tracks) {
  std::set<std::pair<SpanKind, size_t>> recorded;
  for (const auto& [key, track] : tracks)
    for (const RoleEvent& e : track.events)
      for (size_t f = 0; f < std::size(kFields); ++f)
        if (kFields[f].present(e.meaning)) recorded.emplace(e.meaning.kind, f);
  return recorded;
}

/// Copies of the tracks without the fields that only one of them records.
void drop_one_sided_fields(RoleTracks& a, RoleTracks& b, std::vector<std::string>& report) {
  const auto in_a = recorded_fields(a), in_b = recorded_fields(b);
  std::set<std::pair<SpanKind, size_t>> dropped;
  const auto only = [&](const auto& some, const auto& others, const char* lacking,
                        const RoleTracks& lacking_tracks) {
    for (const auto& field : some) {
      if (others.count(field)) continue;
      // A kind that the other side has not at all shows as a divergence, not as a missing field.
      const bool has_kind = std::any_of(lacking_tracks.begin(), lacking_tracks.end(), [&](const auto& t) {
        return std::any_of(t.second.events.begin(), t.second.events.end(),
                           [&](const RoleEvent& e) { return e.meaning.kind == field.first; });
      });
      if (!has_kind) continue;
      dropped.insert(field);
      report.push_back(
          fmt::format("{} of {} ({} has none)", kFields[field.second].name, name(field.first), lacking));
    }
  };
  only(in_a, in_b, "B", b);
  only(in_b, in_a, "A", a);
  for (RoleTracks* tracks : {&a, &b})
    for (auto& [key, track] : *tracks)
      for (RoleEvent& e : track.events)
        for (const auto& [kind, field] : dropped)
          if (e.meaning.kind == kind) kFields[field].erase(e.meaning);
}

/// Which stage an event uses in which lap follows from the depth of the ring.
void drop_stages(RoleTracks& tracks) {
  for (auto& [key, track] : tracks)
    for (RoleEvent& e : track.events) e.meaning.stage = e.meaning.phase = -1;
}

// ---- one list of events against another

/// Same meaning?  An event without a tile in a trace that lost events may have lost its tile's span, recorded last.
struct SameMeaning {
  bool a_lost, b_lost;
  bool operator()(const RoleEvent& a, const RoleEvent& b) const {
    if (!(a_lost && a.tile < 0) && !(b_lost && b.tile < 0)) return a.meaning == b.meaning;
    EventMeaning x = a.meaning, y = b.meaning;
    x.tile_m = x.tile_n = x.tile_k = y.tile_m = y.tile_n = y.tile_k = -1;
    return x == y;
  }
};

Divergence divergence_at(const Events& a, const Events& b, size_t at, const SameMeaning& same) {
  const auto equal = [&](size_t i, size_t j) { return i < a.size() && j < b.size() && same(a[i], b[j]); };
  Divergence d;
  d.index = at;
  const bool in_a = at < a.size(), in_b = at < b.size();
  if (in_a) d.event_a = describe(a[at].meaning), d.span_a = a[at].span;
  if (in_b) d.event_b = describe(b[at].meaning), d.span_b = b[at].span;
  const bool ends_after_two = at + 2 >= a.size() && at + 2 >= b.size();
  if (equal(at, at + 1) && equal(at + 1, at) && (equal(at + 2, at + 2) || ends_after_two)) {
    d.detail = fmt::format("{} before {}, expected after", d.event_a, d.event_b);
  } else if (!in_a || equal(at, at + 1)) {
    d.what = Divergence::What::missing;
    d.detail =
        in_a ? fmt::format("{} is missing", d.event_b) : fmt::format("A ends here, B goes on with {}", d.event_b);
  } else if (!in_b || equal(at + 1, at)) {
    d.what = Divergence::What::extra;
    d.detail =
        in_b ? fmt::format("{} is not in B", d.event_a) : fmt::format("B ends here, A goes on with {}", d.event_a);
  } else {
    d.detail = difference(a[at].meaning, b[at].meaning);
  }
  const size_t first = at < 10 ? 0 : at - 10;
  for (size_t i = first; i < at + 6 && (i < a.size() || i < b.size()); ++i)
    d.context.push_back({i < a.size() ? describe(a[i].meaning) : "", i < b.size() ? describe(b[i].meaning) : "",
                         equal(i, i), i == at});
  return d;
}

class Comparison {
 public:
  Comparison(const Trace& a, const Trace& b, StructureDiff& result, MatchedSpans& matched)
      : a_(a),
        b_(b),
        same_{a.metadata.dropped_events > 0, b.metadata.dropped_events > 0},
        result_(result),
        matched_(matched) {
    origin_a_ = origin(a), origin_b_ = origin(b);
  }

  void compare(const RoleTrack& track, const Events& a, const Events& b, bool by_tile) {
    size_t at = 0;
    while (at < a.size() && at < b.size() && same_(a[at], b[at])) {
      matched_.push_back({&track, {a[at].span, b[at].span}});
      ++at;
    }
    result_.events_compared += at;
    if (at == a.size() && at == b.size()) return;
    // Lost events are at the end of a track.
    if ((same_.a_lost && at == a.size()) || (same_.b_lost && at == b.size())) return;
    Divergence d = divergence_at(a, b, at, same_);
    d.role = track.role, d.cta = track.cta, d.warp = track.warp, d.by_tile = by_tile;
    d.time_ns = at < a.size() ? ns(a_, a[at].span->begin - origin_a_) : ns(b_, b[at].span->begin - origin_b_);
    result_.divergences.push_back(std::move(d));
  }

 private:
  static uint64_t origin(const Trace& trace) {
    uint64_t first = UINT64_MAX;
    for (const Span& s : trace.spans) first = std::min(first, s.begin);
    return first;
  }
  static double ns(const Trace& trace, uint64_t ticks) {
    return double(ticks) * 1e9 / trace.metadata.ticks_per_second;
  }

  const Trace &a_, &b_;
  SameMeaning same_;
  StructureDiff& result_;
  MatchedSpans& matched_;
  uint64_t origin_a_, origin_b_;
};

// ---- dynamic assignment: tile by tile

using TileKey = std::tuple<int, int, int, std::string, int>;  // m, n, k split, role, warp

struct TileEvents {
  const RoleTrack* track;
  Events events;
};

/// Stages of each ring, named by its pipeline or, where an event names none, by the event's kind.
using RingStages = std::map<std::string, int>;

std::string ring_of(const EventMeaning& m) { return m.pipeline.empty() ? std::string(name(m.kind)) : m.pipeline; }

void count_stages(const RoleTracks& tracks, RingStages& stages) {
  for (const auto& [key, track] : tracks)
    for (const RoleEvent& e : track.events) {
      int& count = stages[ring_of(e.meaning)];
      count = std::max(count, e.meaning.stage + 1);
    }
}

/// Stages and phases count from the tile's first use of each ring.  A wait of the first lap has phase -1.
void make_relative(Events& events, const RingStages& ring_stages) {
  std::map<std::string, int> firsts;
  for (RoleEvent& e : events) {
    EventMeaning& m = e.meaning;
    if (m.stage < 0) continue;
    const int stages = ring_stages.at(ring_of(m)), use = m.phase * stages + m.stage;
    const int first = firsts.try_emplace(ring_of(m), use).first->second;
    if (m.kind == SpanKind::wait) m.phase = (use - first) / stages;
    m.stage = ((use - first) % stages + stages) % stages;
  }
}

std::map<TileKey, TileEvents> by_tile(const RoleTracks& tracks, const RingStages& ring_stages) {
  std::map<TileKey, TileEvents> tiles;
  for (const auto& [key, track] : tracks)
    for (const RoleEvent& e : track.events) {
      if (e.tile < 0) continue;
      const auto& [m, n, k] = track.tiles[size_t(e.tile)];
      TileEvents& tile = tiles[{m, n, k, track.role, track.warp}];
      tile.track = &track;
      tile.events.push_back(e);
    }
  for (auto& [key, tile] : tiles) make_relative(tile.events, ring_stages);
  return tiles;
}

/// Tiles that have coordinates and that another CTA computed in B.
size_t tiles_elsewhere(const RoleTracks& a, const RoleTracks& b, size_t& tiles) {
  const auto owners = [](const RoleTracks& tracks) {
    std::map<std::tuple<int, int, int>, int> owner;
    for (const auto& [key, track] : tracks)
      for (const auto& tile : track.tiles)
        if (std::get<0>(tile) >= 0) owner[tile] = track.cta;
    return owner;
  };
  const auto in_a = owners(a), in_b = owners(b);
  tiles = in_a.size();
  size_t elsewhere = 0;
  for (const auto& [tile, cta] : in_a) {
    const auto it = in_b.find(tile);
    elsewhere += it != in_b.end() && it->second != cta;
  }
  return elsewhere;
}

}  // namespace

StructureDiff compare_structure(const Trace& a, const Trace& b, const RoleTracks& original_a,
                                const RoleTracks& original_b, MatchedSpans& matched, const std::string& rings) {
  StructureDiff result;
  result.events_lost = a.metadata.dropped_events > 0 || b.metadata.dropped_events > 0;
  RoleTracks tracks_a = original_a, tracks_b = original_b;
  drop_one_sided_fields(tracks_a, tracks_b, result.not_compared);
  if (!rings.empty()) {
    drop_stages(tracks_a), drop_stages(tracks_b);
    result.not_compared.push_back("stages, phases and barriers, which follow from " + rings);
  }
  result.tiles_on_other_ctas = tiles_elsewhere(tracks_a, tracks_b, result.tiles);
  result.dynamic_assignment = result.tiles_on_other_ctas > 0;

  Comparison comparison(a, b, result, matched);
  if (result.dynamic_assignment) {
    RingStages stages;
    count_stages(tracks_a, stages);
    count_stages(tracks_b, stages);
    const auto in_a = by_tile(tracks_a, stages), in_b = by_tile(tracks_b, stages);
    const auto text = [](const TileKey& key) {
      return fmt::format("{} of tile ({}, {})", std::get<3>(key), std::get<0>(key), std::get<1>(key));
    };
    for (const auto& [key, tile] : in_a) {
      if (std::get<0>(key) < 0) continue;  // a scheduler's tiles have no coordinates
      const auto other = in_b.find(key);
      if (other == in_b.end()) {
        if (b.metadata.dropped_events == 0) result.only_in_a.push_back(text(key));
        continue;
      }
      ++result.tracks_compared;
      comparison.compare(original_a.at({tile.track->cta, tile.track->warp, tile.track->role}), tile.events,
                         other->second.events, true);
    }
    for (const auto& [key, tile] : in_b)
      if (std::get<0>(key) >= 0 && !in_a.count(key) && a.metadata.dropped_events == 0)
        result.only_in_b.push_back(text(key));
  } else {
    for (const auto& [key, track] : tracks_a) {
      const auto other = tracks_b.find(key);
      if (other == tracks_b.end()) {
        if (!track.events.empty()) result.only_in_a.push_back(track_name(track));
        continue;
      }
      ++result.tracks_compared;
      comparison.compare(original_a.at(key), track.events, other->second.events, false);
    }
    for (const auto& [key, track] : tracks_b)
      if (!tracks_a.count(key) && !track.events.empty()) result.only_in_b.push_back(track_name(track));
  }
  if (!result.dynamic_assignment && !result.events_lost && rings.empty()) compare_barriers(a, b, result);
  std::stable_sort(result.divergences.begin(), result.divergences.end(),
                   [](const Divergence& x, const Divergence& y) { return x.time_ns < y.time_ns; });
  return result;
}

}  // namespace sm100::traces
