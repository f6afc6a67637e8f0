// SPDX-License-Identifier: Apache-2.0
/// How a diff reads: text for people, JSON for programs.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "traces/diff/diff.h"

namespace sm100::traces {
namespace {

constexpr size_t kMostDivergences = 8, kMostExplanations = 6;

std::string kind_text(SpanKind kind, const std::string& pipeline) {
  return pipeline.empty() ? std::string(name(kind)) : fmt::format("{} {}", name(kind), pipeline);
}

std::string time_text(double ns) {
  return ns >= 1e6   ? fmt::format("{:.2f} ms", ns / 1e6)
         : ns >= 1e4 ? fmt::format("{:.2f} us", ns / 1e3)
                     : fmt::format("{:.0f} ns", ns);
}

/// Without the sign of a zero.
double rounded(double x) { return std::round(x) + 0.0; }

std::string ratio_text(double a, double b) { return a > 0 && b > 0 ? fmt::format("{:.3f}", a / b) : "-"; }

std::string verdict_word(const TraceDiff& d) {
  if (!d.structure.identical()) return "diverges";
  return d.structure.events_lost ? "identical up to lost events" : "identical";
}

std::string trace_line(char which, const Trace& t, const std::string& file) {
  return fmt::format("  {}  {}: {}, {}, {}\n", which, file, t.metadata.source, t.metadata.device,
                     t.metadata.scenario);
}

std::string where(const Divergence& d) {
  if (d.warp < 0) return fmt::format("{}, CTA {}, event {}", d.role, d.cta, d.index);  // a barrier
  return fmt::format("{} of CTA {} (warp {}), event {}{}", d.role, d.cta, d.warp, d.index,
                     d.by_tile ? " of its tile" : "");
}

std::string context_text(const Divergence& d) {
  size_t width = 8;
  for (const auto& line : d.context) width = std::max(width, line.a.size());
  std::string text = fmt::format("       {:<{}}   {}\n", "A", width, "B");
  for (const auto& line : d.context)
    text += fmt::format("    {}  {:<{}} {} {}\n", line.here ? ">" : " ", line.a.empty() ? "(end)" : line.a, width,
                        line.same ? "=" : "|", line.b.empty() ? "(end)" : line.b);
  return text;
}

std::string structure_text(const TraceDiff& d) {
  const StructureDiff& s = d.structure;
  std::string text;
  if (s.identical()) {
    text += fmt::format(
        "SAME STRUCTURE{}: {} events of {} {}{}{}\n",
        d.configuration.empty() ? ""
                                : fmt::format(" ({} configuration value{})", d.configuration.size(),
                                              d.configuration.size() == 1 ? " differs" : "s differ"),
        s.events_compared, s.tracks_compared, s.dynamic_assignment ? "tiles of roles" : "role tracks",
        s.barrier_events_compared > 0 ? fmt::format(", {} events of barriers", s.barrier_events_compared) : "",
        s.events_lost ? ", as far as both traces go (events were lost while recording)" : "");
  } else {
    const size_t missing = s.only_in_a.size() + s.only_in_b.size();
    const auto barriers =
        std::count_if(s.divergences.begin(), s.divergences.end(), [](const Divergence& x) { return x.warp < 0; });
    text += fmt::format("DIFFERENT STRUCTURE: {} of {} {} diverge{}{}\n", s.divergences.size() - size_t(barriers),
                        s.tracks_compared, s.dynamic_assignment ? "tiles of roles" : "role tracks",
                        barriers > 0
                            ? fmt::format(", {} barrier{}", barriers,
                                          barriers == 1 ? " differs in its counts" : "s differ in their counts")
                            : "",
                        missing > 0 ? fmt::format(", {} are in one trace only", missing) : "");
  }
  for (const std::string& key : d.configuration) text += fmt::format("  configuration differs: {}\n", key);
  if (const std::string pace = pace_of(d); !pace.empty()) text += fmt::format("  pace: {}\n", pace);
  for (const std::string& note : d.notes) text += fmt::format("  note: {}\n", note);
  if (s.dynamic_assignment)
    text += fmt::format("  tile assignment differs: {} of {} tiles ran on other CTAs (no divergence)\n",
                        s.tiles_on_other_ctas, s.tiles);
  for (const std::string& field : s.not_compared) text += fmt::format("  not compared: {}\n", field);
  for (size_t i = 0; i < std::min(s.divergences.size(), kMostDivergences); ++i) {
    const Divergence& divergence = s.divergences[i];
    text +=
        fmt::format("  {}{}: {}\n", i == 0 ? "first divergence, " : "then ", where(divergence), divergence.detail);
    if (i == 0 && !divergence.context.empty()) text += context_text(divergence);
  }
  if (s.divergences.size() > kMostDivergences)
    text += fmt::format("  and {} more\n", s.divergences.size() - kMostDivergences);
  for (const std::string& track : s.only_in_a) text += fmt::format("  only in A: {}\n", track);
  for (const std::string& track : s.only_in_b) text += fmt::format("  only in B: {}\n", track);
  return text;
}

std::string timing_text(const TimingDiff& t) {
  std::string text = "\ntiming\n";
  text += fmt::format("  whole          A {}, B {}: ratio {}\n", time_text(t.span_a_ns), time_text(t.span_b_ns),
                      ratio_text(t.span_a_ns, t.span_b_ns));
  text += fmt::format(
      "  clocks         B runs {:.3f} times as long as A over {} matched events; CTA offsets {:.0f} to {:.0f} ns\n",
      t.scale, t.matched, rounded(t.offset_min_ns), rounded(t.offset_max_ns));
  text += fmt::format("  timer steps    A {:.2f} ns, B {:.2f} ns\n", t.step_a_ns, t.step_b_ns);
  if (!t.periods.empty()) {
    text += fmt::format("\n  {:<28}{:>10}{:>10}{:>8}{:>10}{:>10}{:>8}\n", "steady-state period, ns", "median A",
                        "median B", "A/B", "mean A", "mean B", "A/B");
    for (const PeriodDiff& p : t.periods)
      text += fmt::format("  {:<28}{:>10.1f}{:>10.1f}{:>8}{:>10.1f}{:>10.1f}{:>8}\n",
                          p.role + " " + std::string(name(p.kind)), p.median_a, p.median_b,
                          ratio_text(p.median_a, p.median_b), p.mean_a, p.mean_b, ratio_text(p.mean_a, p.mean_b));
  }
  text += fmt::format("\n  {:<28}{:>8}{:>8}{:>10}{:>10}{:>8}{:>10}{:>10}{:>8}\n", "span", "count A", "count B",
                      "median A", "median B", "A/B", "p90 A", "p90 B", "A/B");
  bool limited = false;
  for (const KindDiff& k : t.kinds) {
    limited |= k.limited_by_timer;
    text += fmt::format("  {:<28}{:>8}{:>8}{:>10.1f}{:>10.1f}{:>8}{:>10.1f}{:>10.1f}{:>8}{}\n",
                        kind_text(k.kind, k.pipeline), k.count_a, k.count_b, k.median_a, k.median_b,
                        ratio_text(k.median_a, k.median_b), k.p90_a, k.p90_b, ratio_text(k.p90_a, k.p90_b),
                        k.limited_by_timer ? " ~" : "");
  }
  if (limited) text += "  ~ shorter than four steps of a timer\n";
  if (!t.waiting.empty()) {
    text += fmt::format("\n  {:<28}{:>10}{:>10}\n", "waits, share of role time", "A", "B");
    for (const WaitingDiff& w : t.waiting)
      text +=
          fmt::format("  {:<28}{:>8.1f} %{:>8.1f} %\n", w.role + " for " + (w.pipeline.empty() ? "?" : w.pipeline),
                      100 * w.share_a, 100 * w.share_b);
  }
  if (!t.explained_by.empty()) {
    text += "\n  what differs most\n";
    for (size_t i = 0; i < std::min(t.explained_by.size(), kMostExplanations); ++i) {
      const Explanation& e = t.explained_by[i];
      text += fmt::format("  {:>5.1f} %  {} {}: {}, A {} {}\n           worst: {}\n", 100 * e.share, e.role,
                          kind_text(e.kind, e.pipeline), e.count == 1 ? "1 span" : fmt::format("{} spans", e.count),
                          time_text(std::abs(e.a_minus_b_ns)), e.a_minus_b_ns >= 0 ? "longer" : "shorter", e.worst);
    }
  }
  return text;
}

std::string cta_life_text(const std::vector<CtaIntervalDiff>& intervals) {
  if (intervals.empty()) return "";
  std::string text =
      fmt::format("\n  {:<36}{:^28}{:^28}\n  {:<36}", "life of a CTA, median ns", "first on its SM", "later", "");
  for (int wave = 0; wave < 2; ++wave) text += fmt::format("{:>10}{:>10}{:>8}", "A", "B", "A/B");
  const auto columns = [](const IntervalStatistics& a, const IntervalStatistics& b) {
    if (a.count == 0 || b.count == 0) return fmt::format("{:>10}{:>10}{:>8}", "-", "-", "-");
    return fmt::format("{:>10.1f}{:>10.1f}{:>8}", a.median, b.median, ratio_text(a.median, b.median));
  };
  for (const CtaIntervalDiff& interval : intervals)
    text += fmt::format("\n  {:<36}{}{}", interval.what, columns(interval.first_wave_a, interval.first_wave_b),
                        columns(interval.later_waves_a, interval.later_waves_b));
  return text + "\n";
}

nlohmann::ordered_json cta_life_json(const std::vector<CtaIntervalDiff>& intervals) {
  using Json = nlohmann::ordered_json;
  const auto numbers = [](const IntervalStatistics& s) {
    return Json{{"count", s.count}, {"p10_ns", s.p10}, {"median_ns", s.median}, {"p90_ns", s.p90}};
  };
  Json json = Json::array();
  for (const CtaIntervalDiff& interval : intervals)
    json.push_back({{"what", interval.what},
                    {"first_wave_a", numbers(interval.first_wave_a)},
                    {"first_wave_b", numbers(interval.first_wave_b)},
                    {"later_waves_a", numbers(interval.later_waves_a)},
                    {"later_waves_b", numbers(interval.later_waves_b)}});
  return json;
}

const char* what_word(Divergence::What what) {
  switch (what) {
    case Divergence::What::missing: return "missing";
    case Divergence::What::extra: return "extra";
    case Divergence::What::differs: return "differs";
  }
  return "?";
}

}  // namespace

std::string pace_of(const TraceDiff& diff) {
  const TimingDiff& t = diff.timing;
  const double whole = t.span_a_ns - t.span_b_ns;
  if ((!diff.structure.identical() && diff.configuration.empty()) ||
      std::abs(whole) < 0.01 * std::max(t.span_a_ns, t.span_b_ns))
    return "";
  const std::string longer = fmt::format("{} takes {} longer than {}", whole > 0 ? "A" : "B",
                                         time_text(std::abs(whole)), whole > 0 ? "B" : "A");
  // Of the loops that pull the same way, the one that makes most of it.
  const auto most =
      std::max_element(t.periods.begin(), t.periods.end(), [&](const PeriodDiff& x, const PeriodDiff& y) {
        return x.a_minus_b_ns() * whole < y.a_minus_b_ns() * whole;
      });
  constexpr double kMost = 0.5;  // of the difference; less, and the loops are not what makes it
  const double share = most == t.periods.end() ? 0 : most->a_minus_b_ns() / whole;
  if (share < kMost)
    return fmt::format("{}; the loops' steady-state periods account for {:.0f} % of it, so look outside them",
                       longer, 100 * std::max(share, 0.0));
  return fmt::format(
      "{}; a step of {} {} takes {:.1f} ns in A and {:.1f} ns in B in the mean, which over {} steps is {} ({:.0f} "
      "%)",
      longer, most->role, name(most->kind), most->mean_a, most->mean_b, most->steps,
      time_text(std::abs(most->a_minus_b_ns())), 100 * share);
}

std::string format_diff(const TraceDiff& diff, const Trace& a, const Trace& b, const std::string& name_a,
                        const std::string& name_b) {
  return structure_text(diff) + trace_line('A', a, name_a) + trace_line('B', b, name_b) + timing_text(diff.timing) +
         cta_life_text(diff.cta_intervals);
}

std::string diff_json(const TraceDiff& diff, const Trace& a, const Trace& b, const std::string& name_a,
                      const std::string& name_b) {
  using Json = nlohmann::ordered_json;
  const StructureDiff& s = diff.structure;
  const TimingDiff& t = diff.timing;
  Json divergences = Json::array(), kinds = Json::array(), periods = Json::array(), waiting = Json::array(),
       explained = Json::array();
  for (const Divergence& d : s.divergences) {
    Json context = Json::array();
    for (const auto& line : d.context)
      context.push_back({{"a", line.a}, {"b", line.b}, {"same", line.same}, {"here", line.here}});
    divergences.push_back({{"role", d.role},
                           {"cta", d.cta},
                           {"warp", d.warp},
                           {"index", d.index},
                           {"by_tile", d.by_tile},
                           {"what", what_word(d.what)},
                           {"detail", d.detail},
                           {"event_a", d.event_a},
                           {"event_b", d.event_b},
                           {"time_ns", d.time_ns},
                           {"context", context}});
  }
  for (const KindDiff& k : t.kinds)
    kinds.push_back({{"kind", name(k.kind)},
                     {"pipeline", k.pipeline},
                     {"count_a", k.count_a},
                     {"count_b", k.count_b},
                     {"median_a_ns", k.median_a},
                     {"median_b_ns", k.median_b},
                     {"p90_a_ns", k.p90_a},
                     {"p90_b_ns", k.p90_b},
                     {"limited_by_timer", k.limited_by_timer}});
  for (const PeriodDiff& p : t.periods)
    periods.push_back({{"role", p.role},
                       {"kind", name(p.kind)},
                       {"count_a", p.count_a},
                       {"count_b", p.count_b},
                       {"median_a_ns", p.median_a},
                       {"median_b_ns", p.median_b},
                       {"mean_a_ns", p.mean_a},
                       {"mean_b_ns", p.mean_b},
                       {"ratio", p.median_b > 0 ? p.median_a / p.median_b : 0}});
  for (const WaitingDiff& w : t.waiting)
    waiting.push_back({{"role", w.role},
                       {"pipeline", w.pipeline},
                       {"total_a_ns", w.total_a},
                       {"total_b_ns", w.total_b},
                       {"share_a", w.share_a},
                       {"share_b", w.share_b}});
  for (const Explanation& e : t.explained_by)
    explained.push_back({{"role", e.role},
                         {"kind", name(e.kind)},
                         {"pipeline", e.pipeline},
                         {"count", e.count},
                         {"a_minus_b_ns", e.a_minus_b_ns},
                         {"share", e.share},
                         {"worst", e.worst}});
  const auto trace = [](const Trace& x, const std::string& file) {
    return Json{{"file", file},
                {"source", x.metadata.source},
                {"device", x.metadata.device},
                {"scenario", x.metadata.scenario},
                {"ticks_per_second", x.metadata.ticks_per_second},
                {"dropped_events", x.metadata.dropped_events}};
  };
  const Json json = {
      {"verdict", verdict_word(diff)},
      {"a", trace(a, name_a)},
      {"b", trace(b, name_b)},
      {"configuration", diff.configuration},
      {"pace", pace_of(diff).empty() ? Json() : Json(pace_of(diff))},
      {"notes", diff.notes},
      {"events_compared", s.events_compared},
      {"barrier_events_compared", s.barrier_events_compared},
      {"tracks_compared", s.tracks_compared},
      {"divergences", divergences},
      {"only_in_a", s.only_in_a},
      {"only_in_b", s.only_in_b},
      {"not_compared", s.not_compared},
      {"assignment",
       {{"dynamic", s.dynamic_assignment}, {"tiles", s.tiles}, {"tiles_on_other_ctas", s.tiles_on_other_ctas}}},
      {"clock",
       {{"scale", t.scale},
        {"offset_min_ns", t.offset_min_ns},
        {"offset_median_ns", t.offset_median_ns},
        {"offset_max_ns", t.offset_max_ns},
        {"residual_median_ns", t.residual_median_ns},
        {"step_a_ns", t.step_a_ns},
        {"step_b_ns", t.step_b_ns}}},
      {"span_a_ns", t.span_a_ns},
      {"span_b_ns", t.span_b_ns},
      {"kinds", kinds},
      {"periods", periods},
      {"waiting", waiting},
      {"explained_by", explained},
      {"cta_legs", cta_life_json(diff.cta_intervals)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sm100::traces
