// SPDX-License-Identifier: Apache-2.0
#include "traces/html/diff_data.h"

#include "traces/html/columns.h"

namespace sm100::traces {
namespace {

using nlohmann::json;

/// Row of an element of a trace's vector in its columns.
template <class Event>
int64_t row(const Event* event, const std::vector<Event>& events, const std::vector<uint32_t>& position) {
  return event ? int64_t(position[size_t(event - events.data())]) : -1;
}

std::string_view name(Divergence::What what) {
  switch (what) {
    case Divergence::What::missing: return "missing";
    case Divergence::What::extra: return "extra";
    case Divergence::What::differs: break;
  }
  return "differs";
}

json timing_json(const TimingDiff& t) {
  json explained = json::array(), waiting = json::array(), periods = json::array();
  for (const Explanation& e : t.explained_by)
    explained.push_back({{"role", e.role},
                         {"kind", traces::name(e.kind)},
                         {"pipeline", e.pipeline},
                         {"count", e.count},
                         {"a_minus_b_ns", e.a_minus_b_ns},
                         {"share", e.share}});
  for (const WaitingDiff& w : t.waiting)
    waiting.push_back({{"role", w.role}, {"pipeline", w.pipeline}, {"share_a", w.share_a}, {"share_b", w.share_b}});
  for (const PeriodDiff& p : t.periods)
    periods.push_back({{"role", p.role},
                       {"kind", traces::name(p.kind)},
                       {"median_a_ns", p.median_a},
                       {"median_b_ns", p.median_b}});
  return {{"matched", t.matched},     {"scale", t.scale},         {"offset_median_ns", t.offset_median_ns},
          {"span_a_ns", t.span_a_ns}, {"span_b_ns", t.span_b_ns}, {"explained_by", explained},
          {"waiting", waiting},       {"periods", periods}};
}

}  // namespace

std::string make_diff_data(const TraceDiff& diff, const MatchedPairs& matched, const Trace& a,
                           const TraceData& data_a, const Trace& b, const TraceData& data_b) {
  const StructureDiff& s = diff.structure;
  json divergences = json::array();
  for (const Divergence& d : s.divergences)
    divergences.push_back({{"role", d.role},
                           {"cta", d.cta},
                           {"warp", d.warp},
                           {"what", name(d.what)},
                           {"detail", d.detail},
                           {"event_a", d.event_a},
                           {"event_b", d.event_b},
                           {"time_ns", d.time_ns},
                           {"span_a", row(d.span_a, a.spans, data_a.span_position)},
                           {"span_b", row(d.span_b, b.spans, data_b.span_position)},
                           {"barrier_a", row(d.barrier_a, a.barrier_events, data_a.barrier_position)},
                           {"barrier_b", row(d.barrier_b, b.barrier_events, data_b.barrier_position)}});
  ColumnWriter columns;
  columns.column("matched.a", matched.size(),
                 [&](size_t i) { return row(matched[i].first, a.spans, data_a.span_position); });
  columns.column("matched.b", matched.size(),
                 [&](size_t i) { return row(matched[i].second, b.spans, data_b.span_position); });
  return columns.base64({{"configuration", diff.configuration},
                         {"pace", pace_of(diff)},
                         {"notes", diff.notes},
                         {"identical", s.identical()},
                         {"events_compared", s.events_compared},
                         {"tracks_compared", s.tracks_compared},
                         {"only_in_a", s.only_in_a},
                         {"only_in_b", s.only_in_b},
                         {"not_compared", s.not_compared},
                         {"dynamic_assignment", s.dynamic_assignment},
                         {"tiles", s.tiles},
                         {"tiles_on_other_ctas", s.tiles_on_other_ctas},
                         {"events_lost", s.events_lost},
                         {"divergences", divergences},
                         {"timing", timing_json(diff.timing)}});
}

}  // namespace sm100::traces
