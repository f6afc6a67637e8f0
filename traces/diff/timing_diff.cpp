// SPDX-License-Identifier: Apache-2.0
#include "traces/diff/timing_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace sm100::traces {
namespace {

/// First begin and last end of anything the role recorded, in ticks.
std::pair<uint64_t, uint64_t> life(const RoleTrack& track) {
  uint64_t begin = UINT64_MAX, end = 0;
  const auto add = [&](const Span& s) { begin = std::min(begin, s.begin), end = std::max(end, s.end); };
  for (const RoleEvent& e : track.events) add(*e.span);
  for (const Span* s : track.containers) add(*s);
  return {begin, end};
}

/// A trace's times in nanoseconds from its first role span.
class Clock {
 public:
  Clock(const Trace& trace, const RoleTracks& tracks) : ns_per_tick_(1e9 / trace.metadata.ticks_per_second) {
    origin_ = UINT64_MAX;
    uint64_t end = 0;
    for (const auto& [key, track] : tracks) {
      const auto [first, last] = life(track);
      origin_ = std::min(origin_, first);
      end = std::max(end, last);
    }
    for (const auto& [key, track] : tracks)
      for (const RoleEvent& e : track.events) step_ = std::gcd(step_, e.span->begin - origin_);
    span_ns_ = double(end - origin_) * ns_per_tick_;
  }
  double at(uint64_t ticks) const { return double(int64_t(ticks - origin_)) * ns_per_tick_; }
  double length(const Span& s) const { return double(s.end - s.begin) * ns_per_tick_; }
  double step_ns() const { return double(std::max<uint64_t>(step_, 1)) * ns_per_tick_; }
  double span_ns() const { return span_ns_; }

 private:
  double ns_per_tick_;
  uint64_t origin_, step_ = 0;
  double span_ns_ = 0;
};

/// By nearest rank; 0 of nothing.
double rank(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, size_t(std::ceil(part * double(values.size()))) - (part > 0 ? 1 : 0))];
}
double median(const std::vector<double>& values) { return rank(values, 0.5); }
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(std::max<size_t>(1, values.size()));
}

std::string pipeline_of(const EventMeaning& m) { return m.kind == SpanKind::wait ? m.pipeline : ""; }

// ---- the clocks against each other

/// Least squares with one slope for all and an offset for each CTA: CTAs start when the hardware likes.
void fit_clocks(const MatchedSpans& matched, const Clock& a, const Clock& b, TimingDiff& result) {
  struct Sums {
    double n = 0, x = 0, y = 0;
  };
  std::map<int, Sums> of_cta;
  for (const auto& [track, spans] : matched) {
    Sums& s = of_cta[track->cta];
    s.n += 1, s.x += a.at(spans.first->begin), s.y += b.at(spans.second->begin);
  }
  double xx = 0, xy = 0;
  for (const auto& [track, spans] : matched) {
    const Sums& s = of_cta[track->cta];
    const double dx = a.at(spans.first->begin) - s.x / s.n, dy = b.at(spans.second->begin) - s.y / s.n;
    xx += dx * dx, xy += dx * dy;
  }
  result.scale = xx > 0 ? xy / xx : 1;
  std::vector<double> offsets, residuals;
  for (const auto& [cta, s] : of_cta) offsets.push_back((s.y - result.scale * s.x) / s.n);
  for (const auto& [track, spans] : matched) {
    const Sums& s = of_cta[track->cta];
    const double offset = (s.y - result.scale * s.x) / s.n;
    residuals.push_back(std::abs(b.at(spans.second->begin) - offset - result.scale * a.at(spans.first->begin)));
  }
  result.offset_min_ns = rank(offsets, 0), result.offset_max_ns = rank(offsets, 1);
  result.offset_median_ns = median(offsets);
  result.residual_median_ns = median(residuals);
}

// ---- kinds, periods, waiting: each trace by itself, side by side

using KindKey = std::pair<SpanKind, std::string>;

std::map<KindKey, std::vector<double>> durations(const RoleTracks& tracks, const Clock& clock) {
  std::map<KindKey, std::vector<double>> all;
  for (const auto& [key, track] : tracks) {
    for (const RoleEvent& e : track.events)
      all[{e.meaning.kind, pipeline_of(e.meaning)}].push_back(clock.length(*e.span));
    for (const Span* s : track.containers) all[{s->kind, ""}].push_back(clock.length(*s));
  }
  return all;
}

std::vector<KindDiff> compare_kinds(const RoleTracks& tracks_a, const RoleTracks& tracks_b, const Clock& a,
                                    const Clock& b) {
  auto in_a = durations(tracks_a, a), in_b = durations(tracks_b, b);
  std::set<KindKey> keys;
  for (const auto& [key, values] : in_a) keys.insert(key);
  for (const auto& [key, values] : in_b) keys.insert(key);
  std::vector<std::pair<double, KindDiff>> rows;
  for (const KindKey& key : keys) {
    const auto &va = in_a[key], &vb = in_b[key];
    KindDiff row{.kind = key.first,
                 .pipeline = key.second,
                 .count_a = va.size(),
                 .count_b = vb.size(),
                 .median_a = median(va),
                 .median_b = median(vb),
                 .p90_a = rank(va, 0.9),
                 .p90_b = rank(vb, 0.9)};
    row.limited_by_timer =
        (!va.empty() && row.median_a < 4 * a.step_ns()) || (!vb.empty() && row.median_b < 4 * b.step_ns());
    rows.emplace_back(std::accumulate(vb.begin(), vb.end(), 0.0), row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<KindDiff> result;
  for (auto& [total, row] : rows) result.push_back(std::move(row));
  return result;
}

/// What a role issues once per step of its loop.
bool paces(SpanKind kind) {
  return kind == SpanKind::load_issue || kind == SpanKind::mma_issue || kind == SpanKind::smem_write ||
         kind == SpanKind::store_issue || kind == SpanKind::clc_request;
}

using PeriodKey = std::pair<std::string, SpanKind>;

/// Distances between successive begins, without a track's first lap of its ring and its last step.
std::map<PeriodKey, std::vector<double>> periods(const RoleTracks& tracks, const Clock& clock) {
  std::map<PeriodKey, std::vector<double>> all;
  for (const auto& [key, track] : tracks) {
    std::map<SpanKind, std::vector<const Span*>> steps;
    for (const RoleEvent& e : track.events)
      if (paces(e.meaning.kind)) steps[e.meaning.kind].push_back(e.span);
    for (const auto& [kind, spans] : steps) {
      size_t lap = 1;
      for (const Span* s : spans) lap = std::max(lap, size_t(s->args.stage + 1));
      for (size_t i = lap; i + 2 < spans.size(); ++i)
        all[{track.role, kind}].push_back(clock.at(spans[i + 1]->begin) - clock.at(spans[i]->begin));
    }
  }
  return all;
}

size_t most_steps(const RoleTracks& tracks, const PeriodKey& key) {
  size_t most = 0;
  for (const auto& [id, track] : tracks)
    if (track.role == key.first)
      most = std::max(most, size_t(std::count_if(track.events.begin(), track.events.end(), [&](const RoleEvent& e) {
                        return e.meaning.kind == key.second;
                      })));
  return most;
}

std::vector<PeriodDiff> compare_periods(const RoleTracks& tracks_a, const RoleTracks& tracks_b, const Clock& a,
                                        const Clock& b) {
  const auto in_a = periods(tracks_a, a);
  auto in_b = periods(tracks_b, b);
  std::vector<PeriodDiff> rows;
  for (const auto& [key, values] : in_a) {
    const auto& other = in_b[key];
    if (other.empty()) continue;
    rows.push_back({key.first, key.second, values.size(), other.size(), median(values), median(other), mean(values),
                    mean(other), most_steps(tracks_a, key)});
  }
  return rows;
}

std::vector<WaitingDiff> compare_waiting(const RoleTracks& tracks_a, const RoleTracks& tracks_b, const Clock& a,
                                         const Clock& b) {
  std::map<std::pair<std::string, std::string>, WaitingDiff> rows;
  std::map<std::string, std::pair<double, double>> lives;
  const auto add = [&](const RoleTracks& tracks, const Clock& clock, double WaitingDiff::*total, bool first) {
    for (const auto& [key, track] : tracks) {
      if (track.events.empty() && track.containers.empty()) continue;
      for (const RoleEvent& e : track.events)
        if (e.meaning.kind == SpanKind::wait)
          rows[{track.role, e.meaning.pipeline}].*total += clock.length(*e.span);
      const auto [begin, end] = life(track);
      (first ? lives[track.role].first : lives[track.role].second) += clock.at(end) - clock.at(begin);
    }
  };
  add(tracks_a, a, &WaitingDiff::total_a, true);
  add(tracks_b, b, &WaitingDiff::total_b, false);
  std::vector<WaitingDiff> result;
  for (auto& [key, row] : rows) {
    row.role = key.first, row.pipeline = key.second;
    const auto& [life_a, life_b] = lives[row.role];
    row.share_a = life_a > 0 ? row.total_a / life_a : 0;
    row.share_b = life_b > 0 ? row.total_b / life_b : 0;
    result.push_back(row);
  }
  return result;
}

// ---- what makes the difference

std::vector<Explanation> explain(const MatchedSpans& matched, const Clock& a, const Clock& b,
                                 const RoleTracks& tracks_a) {
  struct Sum {
    Explanation row;
    double absolute = 0, worst = -1;
    const RoleTrack* track = nullptr;
    const Span *span_a = nullptr, *span_b = nullptr;
  };
  std::map<std::tuple<std::string, SpanKind, std::string>, Sum> sums;
  std::map<const Span*, const EventMeaning*> meanings;
  for (const auto& [key, track] : tracks_a)
    for (const RoleEvent& e : track.events) meanings[e.span] = &e.meaning;
  double all = 0;
  for (const auto& [track, spans] : matched) {
    const EventMeaning& m = *meanings.at(spans.first);
    const double difference = a.length(*spans.first) - b.length(*spans.second);
    // What the timers can't tell apart is no difference.
    if (std::abs(difference) < std::max(a.step_ns(), b.step_ns())) continue;
    Sum& sum = sums[{track->role, m.kind, pipeline_of(m)}];
    sum.row.role = track->role, sum.row.kind = m.kind, sum.row.pipeline = pipeline_of(m);
    ++sum.row.count;
    sum.row.a_minus_b_ns += difference;
    sum.absolute += std::abs(difference);
    all += std::abs(difference);
    if (std::abs(difference) > sum.worst) {
      sum.worst = std::abs(difference);
      sum.track = track, sum.span_a = spans.first, sum.span_b = spans.second;
    }
  }
  std::vector<Explanation> rows;
  for (auto& [key, sum] : sums) {
    sum.row.share = all > 0 ? sum.absolute / all : 0;
    sum.row.worst = fmt::format("CTA {} warp {}, {}: {:.0f} against {:.0f} ns", sum.track->cta, sum.track->warp,
                                describe(*meanings.at(sum.span_a)), a.length(*sum.span_a), b.length(*sum.span_b));
    rows.push_back(std::move(sum.row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Explanation& x, const Explanation& y) { return x.share > y.share; });
  return rows;
}

}  // namespace

TimingDiff compare_timing(const Trace& a, const Trace& b, const RoleTracks& tracks_a, const RoleTracks& tracks_b,
                          const MatchedSpans& matched) {
  const Clock clock_a(a, tracks_a), clock_b(b, tracks_b);
  TimingDiff result;
  result.matched = matched.size();
  result.step_a_ns = clock_a.step_ns(), result.step_b_ns = clock_b.step_ns();
  result.span_a_ns = clock_a.span_ns(), result.span_b_ns = clock_b.span_ns();
  if (a.metadata.run_ticks != 0 && b.metadata.run_ticks != 0) {
    result.span_a_ns = double(a.metadata.run_ticks) * 1e9 / a.metadata.ticks_per_second;
    result.span_b_ns = double(b.metadata.run_ticks) * 1e9 / b.metadata.ticks_per_second;
  }
  if (!matched.empty()) fit_clocks(matched, clock_a, clock_b, result);
  result.kinds = compare_kinds(tracks_a, tracks_b, clock_a, clock_b);
  result.periods = compare_periods(tracks_a, tracks_b, clock_a, clock_b);
  result.waiting = compare_waiting(tracks_a, tracks_b, clock_a, clock_b);
  result.explained_by = explain(matched, clock_a, clock_b, tracks_a);
  return result;
}

}  // namespace sm100::traces
