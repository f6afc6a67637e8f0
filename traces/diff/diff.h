// SPDX-License-Identifier: Apache-2.0
/// Compares two traces of one kernel: first what happened (per role, the same events in the same order), then when.
///
/// A is what is examined, B what it is held against; usually a simulation and the hardware run of the same
/// scenario. Times are compared in nanoseconds, by each trace's ticks_per_second.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traces/analysis/cta_life.h"
#include "traces/diff/alignment.h"

namespace sm100::traces {

/// Where a role of A first leaves B's story.
struct Divergence {
  std::string role;
  int cta = -1, warp = -1;
  enum class What { missing, extra, differs } what = What::differs;
  size_t index = 0;  ///< of the event on its track (or in its tile, with `by_tile`)
  bool by_tile = false;
  std::string detail;                               ///< "stage 2, expected 1"
  std::string event_a, event_b;                     ///< described; "" = the track has ended there
  double time_ns = 0;                               ///< of the event in A, else in B, from that trace's first event
  const Span *span_a = nullptr, *span_b = nullptr;  ///< the events, in the traces that were compared
  const BarrierEvent *barrier_a = nullptr, *barrier_b = nullptr;  ///< the same, of a barrier's divergence
  /// Ten events before, the divergent one and five after, on both sides.
  struct Line {
    std::string a, b;
    bool same = false, here = false;
  };
  std::vector<Line> context;
};

struct StructureDiff {
  std::vector<Divergence> divergences;  ///< at most one per track, the earliest first
  size_t events_compared = 0, tracks_compared = 0;
  size_t barrier_events_compared = 0;             ///< 0 unless both traces recorded barriers
  std::vector<std::string> only_in_a, only_in_b;  ///< roles, as "load of CTA 3 (warp 5)"
  std::vector<std::string>
      not_compared;  ///< fields that one side never records: "bytes of load_issue (B has none)"
  bool dynamic_assignment = false;
  size_t tiles = 0, tiles_on_other_ctas = 0;
  bool events_lost = false;  ///< a trace dropped events: compared as far as both go
  bool identical() const { return divergences.empty() && only_in_a.empty() && only_in_b.empty(); }
};

/// Durations of one kind of span in both traces, in nanoseconds.
struct KindDiff {
  SpanKind kind = SpanKind::wait;
  std::string pipeline;
  size_t count_a = 0, count_b = 0;
  double median_a = 0, median_b = 0, p90_a = 0, p90_b = 0;
  bool limited_by_timer = false;  ///< a median is shorter than four steps of its trace's timer
};

/// Distance from one issue of a role to the next, once its ring is full, in nanoseconds.
struct PeriodDiff {
  std::string role;
  SpanKind kind = SpanKind::wait;
  size_t count_a = 0, count_b = 0;
  double median_a = 0, median_b = 0;
  double mean_a = 0, mean_b = 0;  ///< with what holds some steps up: the loop's pace
  size_t steps = 0;               ///< of the track of A that has the most
  /// What the loop makes of the difference of the whole, A minus B.
  double a_minus_b_ns() const { return (mean_a - mean_b) * double(steps); }
};

struct WaitingDiff {
  std::string role, pipeline;
  double total_a = 0, total_b = 0;  ///< nanoseconds, over all tracks of the role
  double share_a = 0, share_b = 0;  ///< of the role's time
};

/// Spans of one sort whose durations differ, and how much of the whole difference they make.
struct Explanation {
  std::string role, pipeline;
  SpanKind kind = SpanKind::wait;
  size_t count = 0;
  double a_minus_b_ns = 0;  ///< sum of the differences, signed
  double share = 0;         ///< of the sum of all absolute differences
  std::string worst;        ///< the span that differs most: where, and both durations
};

struct TimingDiff {
  size_t matched = 0;  ///< events that both traces have
  double scale = 1;    ///< time in B per time in A, fitted over all matched events, an offset for each CTA
  double offset_min_ns = 0, offset_median_ns = 0, offset_max_ns = 0;  ///< of the CTAs
  double residual_median_ns = 0;                                      ///< |B - fit(A)|
  double step_a_ns = 0, step_b_ns = 0;                                ///< of the timers, as the times show
  /// Metadata::run_ticks where both traces have it; else from the first begin to the last end of any role.
  double span_a_ns = 0, span_b_ns = 0;
  std::vector<KindDiff> kinds;
  std::vector<PeriodDiff> periods;
  std::vector<WaitingDiff> waiting;
  std::vector<Explanation> explained_by;
};

struct TraceDiff {
  std::vector<std::string> configuration;  ///< keys that differ: "stages: 4, 6"
  std::vector<std::string> notes;          ///< what makes the two hard to compare, one sentence each
  StructureDiff structure;
  TimingDiff timing;
  std::vector<CtaIntervalDiff> cta_intervals;  ///< empty unless both traces have them
};

/// Spans of A and B that mean the same.
using MatchedPairs = std::vector<std::pair<const Span*, const Span*>>;

/// Throws std::runtime_error in one line if the traces are of different kernels or hold no role spans.
/// @param matched  filled with the pairs that were found, if given
TraceDiff diff_traces(const Trace& a, const Trace& b, MatchedPairs* matched = nullptr);

/// Where the difference in time comes from, one sentence: the loop that takes most of it, or none.  Empty: the
/// lengths agree within 1 %, or the structure differs and the configuration does not explain it.
std::string pace_of(const TraceDiff& diff);

/// For people: the verdict first, then the causes (configuration, pace), then figures.  `name_a` and `name_b` are
/// shown in the headings.
std::string format_diff(const TraceDiff& diff, const Trace& a, const Trace& b, const std::string& name_a,
                        const std::string& name_b);
/// The same as JSON text.
std::string diff_json(const TraceDiff& diff, const Trace& a, const Trace& b, const std::string& name_a,
                      const std::string& name_b);

}  // namespace sm100::traces
