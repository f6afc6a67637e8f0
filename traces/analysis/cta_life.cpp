// SPDX-License-Identifier: Apache-2.0
#include "traces/analysis/cta_life.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace sm100::traces {
namespace {

/// A wait that found its phase complete: what it ended with says nothing about the time of the phase.
constexpr double kNoWaitNs = 100;

struct Interval {
  double begin = 0, end = 0;  ///< nanoseconds
};
using ByStep = std::map<int, Interval>;  ///< by k step

/// What the roles of one CTA did.
struct Cta {
  int sm = -1, wave = 0;
  Interval whole{.begin = 1e300, .end = -1e300};
  std::vector<Interval> setups, tiles;
  ByStep load, mma, wait_empty, wait_full;
  std::vector<Interval> load_accum, mma_accum;  ///< their waits for accum_full
};

/// The tracks that issue copies and no MMAs, or MMAs and no copies: the roles that load and that multiply, whatever
/// their names.
struct Issuers {
  std::set<TrackId> load, mma;

  explicit Issuers(const Trace& trace) {
    for (const Span& span : trace.spans) {
      if (span.kind == SpanKind::load_issue) load.insert(span.track);
      if (span.kind == SpanKind::mma_issue) mma.insert(span.track);
    }
  }
  bool loads(TrackId track) const { return load.count(track) && !mma.count(track); }
  bool multiplies(TrackId track) const { return mma.count(track) && !load.count(track); }
};

std::map<int, Cta> read_ctas(const Trace& trace) {
  const Issuers issuers(trace);
  const double ns = 1e9 / trace.metadata.ticks_per_second;
  std::map<int, Cta> ctas;
  for (const Span& span : trace.spans) {
    const Track& track = trace.tracks[span.track];
    if (track.kind != TrackKind::role) continue;
    Cta& cta = ctas[track.cta];
    const Interval at{double(span.begin) * ns, double(span.end) * ns};
    cta.sm = track.sm;
    cta.whole = {std::min(cta.whole.begin, at.begin), std::max(cta.whole.end, at.end)};
    const std::string_view pipeline =
        span.args.pipeline == kNoName ? std::string_view{} : trace.names[size_t(span.args.pipeline)];
    switch (span.kind) {
      case SpanKind::setup: cta.setups.push_back(at); break;
      case SpanKind::tile: cta.tiles.push_back(at); break;
      case SpanKind::load_issue: cta.load[span.args.k] = at; break;
      case SpanKind::mma_issue: cta.mma[span.args.k] = at; break;
      case SpanKind::wait:
        if (pipeline == "input_empty") cta.wait_empty[span.args.k] = at;
        if (pipeline == "input_full") cta.wait_full[span.args.k] = at;
        if (pipeline == "accum_full" && issuers.loads(span.track)) cta.load_accum.push_back(at);
        if (pipeline == "accum_full" && issuers.multiplies(span.track) && !cta.mma.empty())
          cta.mma_accum.push_back(at);
        break;
      default: break;
    }
  }
  return ctas;
}

/// Numbers the CTAs of each SM in order of time.
std::map<int, std::vector<int>> set_waves(std::map<int, Cta>& ctas) {
  std::map<int, std::vector<int>> of_sm;
  for (const auto& [id, cta] : ctas) of_sm[cta.sm].push_back(id);
  for (auto& [sm, ids] : of_sm) {
    std::sort(ids.begin(), ids.end(), [&](int a, int b) { return ctas[a].whole.begin < ctas[b].whole.begin; });
    for (size_t i = 0; i < ids.size(); ++i) ctas[ids[i]].wave = int(i);
  }
  return of_sm;
}

int ring_stages(const Trace& trace) {
  int stages = 0;
  for (const Span& span : trace.spans)
    if (span.kind == SpanKind::load_issue) stages = std::max(stages, span.args.stage + 1);
  return stages;
}

IntervalStatistics statistics(std::vector<double>& values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto rank = [&](size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
  return {values.size(), rank(10), rank(50), rank(90)};
}

/// Collects the intervals in the order in which they are first named.
class Intervals {
 public:
  void add(std::string_view what, const Cta& cta, double ns) {
    auto it = std::find_if(intervals_.begin(), intervals_.end(),
                           [&](const auto& interval) { return interval.first == what; });
    if (it == intervals_.end()) it = intervals_.insert(intervals_.end(), {std::string(what), {}});
    it->second[cta.wave > 0].push_back(ns);
  }
  std::vector<CtaInterval> result() {
    std::vector<CtaInterval> result;
    for (auto& [what, values] : intervals_) result.push_back({what, statistics(values[0]), statistics(values[1])});
    return result;
  }

 private:
  std::vector<std::pair<std::string, std::array<std::vector<double>, 2>>> intervals_;
};

void add_prologue(const Cta& cta, Intervals& intervals) {
  for (const Interval& setup : cta.setups) intervals.add("setup", cta, setup.end - setup.begin);
  const double start = cta.whole.begin;
  intervals.add("start to first copy", cta, cta.load.at(0).begin - start);
  if (cta.mma.empty()) return;
  if (cta.wait_full.count(0))
    intervals.add("first copy to data seen", cta, cta.wait_full.at(0).end - cta.load.at(0).begin);
  intervals.add("start to first MMA", cta, cta.mma.at(0).begin - start);
}

/// @param stages  of the ring
void add_main_loop(const Cta& cta, int stages, Intervals& intervals) {
  if (cta.mma.empty()) return;
  if (const auto freed = cta.wait_empty.find(stages); freed != cta.wait_empty.end())
    intervals.add("first MMA to slot free", cta, freed->second.end - cta.mma.at(0).begin);
  // Without the first quarter, which fills the ring, and the last sixteenth.
  const int steps = cta.load.rbegin()->first + 1, from = steps / 4, to = steps - steps / 16;
  const auto first = cta.wait_empty.find(from), last = cta.wait_empty.find(to);
  if (from > stages && to > from && first != cta.wait_empty.end() && last != cta.wait_empty.end())
    intervals.add("k-block period", cta, (last->second.end - first->second.end) / (to - from));
  for (int k = from; k < to; ++k) {
    const auto full = cta.wait_full.find(k), copy = cta.load.find(k);
    if (full != cta.wait_full.end() && copy != cta.load.end() && full->second.end - full->second.begin > kNoWaitNs)
      intervals.add("copy to data, where waited for", cta, full->second.end - copy->second.begin);
  }
  for (int k = from; k + stages < to; ++k) {
    const auto multiplied = cta.mma.find(k), freed = cta.wait_empty.find(k + stages);
    if (multiplied != cta.mma.end() && freed != cta.wait_empty.end() &&
        freed->second.end - freed->second.begin > kNoWaitNs)
      intervals.add("MMA to slot free, where waited for", cta, freed->second.end - multiplied->second.begin);
  }
}

void add_epilogue(const Cta& cta, Intervals& intervals) {
  intervals.add("last copy to accumulator", cta, cta.load_accum[0].end - cta.load.rbegin()->second.end);
  for (const Interval& wait : cta.mma_accum) intervals.add("last MMA to accumulator", cta, wait.end - wait.begin);
  intervals.add("start to accumulator", cta, cta.load_accum[0].end - cta.whole.begin);
  for (const Interval& tile : cta.tiles) intervals.add("epilogue", cta, tile.end - tile.begin);
  intervals.add("CTA", cta, cta.whole.end - cta.whole.begin);
}

}  // namespace

std::vector<CtaInterval> cta_intervals(const Trace& trace) {
  std::map<int, Cta> ctas = read_ctas(trace);
  for (const auto& [id, cta] : ctas)
    if (cta.load_accum.size() != 1 || !cta.load.count(0) || (!cta.mma.empty() && !cta.mma.count(0))) return {};
  const auto of_sm = set_waves(ctas);
  const int stages = ring_stages(trace);
  Intervals intervals;
  for (const auto& [id, cta] : ctas) add_prologue(cta, intervals);
  for (const auto& [id, cta] : ctas) add_main_loop(cta, stages, intervals);
  for (const auto& [id, cta] : ctas) add_epilogue(cta, intervals);
  for (const auto& [sm, ids] : of_sm)
    for (size_t i = 1; i < ids.size(); ++i)
      intervals.add("gap to the SM's next CTA", ctas[ids[i]],
                    ctas[ids[i]].whole.begin - ctas[ids[i - 1]].whole.end);
  return intervals.result();
}

std::vector<CtaIntervalDiff> compare_cta_intervals(const Trace& a, const Trace& b) {
  const std::vector<CtaInterval> intervals_a = cta_intervals(a), intervals_b = cta_intervals(b);
  std::vector<CtaIntervalDiff> diff;
  for (const CtaInterval& in_a : intervals_a)
    for (const CtaInterval& in_b : intervals_b)
      if (in_a.what == in_b.what)
        diff.push_back({in_a.what, in_a.first_wave, in_b.first_wave, in_a.later_waves, in_b.later_waves});
  return diff;
}

}  // namespace sm100::traces
