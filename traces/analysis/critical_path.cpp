// SPDX-License-Identifier: Apache-2.0
#include "traces/analysis/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace sm100::traces {

namespace {

/// A stretch of a role in which one span was the innermost; kNoSpan: none was open.
struct Leaf {
  uint64_t begin, end;
  uint32_t span;
};

/// A warp goes on after it was blocked.
struct Wake {
  uint64_t time;
  bool mbarrier;
  uint32_t index;  ///< into barrier_events (wait_end) or wakeups
};

struct Barrier {
  int16_t array = kNoName, stage = -1;
  std::vector<uint32_t> completed;  ///< phase_complete events, in order
};

Dependency work_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::wait: return Dependency::handover;
    case SpanKind::load_issue: return Dependency::load_issue;
    case SpanKind::mma_issue:
    case SpanKind::mma_commit: return Dependency::mma_issue;
    case SpanKind::tmem_load: return Dependency::tmem_load;
    case SpanKind::smem_read:
    case SpanKind::smem_write: return Dependency::shared_memory;
    case SpanKind::store_issue:
    case SpanKind::store_wait: return Dependency::store;
    case SpanKind::lock_wait:
    case SpanKind::reduce: return Dependency::split_k;
    case SpanKind::clc_request:
    case SpanKind::clc_fetch: return Dependency::scheduling;
    case SpanKind::setup: return Dependency::launch;
    case SpanKind::tma_load: return Dependency::tma_load;
    case SpanKind::tma_store: return Dependency::tma_store;
    case SpanKind::umma: return Dependency::umma;
    case SpanKind::clc_cancel: return Dependency::clc;
    default: return Dependency::code;
  }
}

class Walk {
 public:
  explicit Walk(const Trace& trace) : trace_(trace), wakes_(trace.tracks.size()), barriers_(trace.tracks.size()) {
    for (const Finding& finding : trace.findings)
      if (!finding.warning && !broke_off_) broke_off_ = &finding;
    index_spans();
    index_barriers();
    for (uint32_t i = 0; i < trace.wakeups.size(); ++i)
      wakes_[trace.wakeups[i].track].push_back({trace.wakeups[i].end, false, i});
    for (auto& wakes : wakes_)
      std::stable_sort(wakes.begin(), wakes.end(), [](const Wake& a, const Wake& b) { return a.time < b.time; });
  }

  CriticalPath run() {
    TrackId role = last_role();
    CriticalPath path;
    path.end = now_ = life_[role].second;
    if (!broke_off_ && trace_.metadata.run_ticks > now_) {
      path.end = now_ = trace_.metadata.run_ticks;
      emit_last_stores(role);
    }
    size_t stuck = 0;
    while (role != kNoTrack && now_ > 0 && stuck < 1000) {
      const uint64_t before = now_;
      role = step(role);
      stuck = now_ == before ? stuck + 1 : 0;
    }
    if (role != kNoTrack) emit(0, role, Dependency::unknown);
    std::reverse(reversed_.begin(), reversed_.end());
    path.segments = std::move(reversed_);
    return path;
  }

 private:
  // ---- what the trace holds, by what the walk asks for

  void index_spans() {
    by_track_.resize(trace_.tracks.size());
    leaves_.resize(trace_.tracks.size());
    life_.assign(trace_.tracks.size(), {UINT64_MAX, 0});
    for (uint32_t i = 0; i < trace_.spans.size(); ++i) {
      const Span& span = trace_.spans[i];
      by_track_[span.track].push_back(i);
      auto& [first, last] = life_[span.track];
      first = std::min(first, span.begin), last = std::max(last, span.end);
      if (span.flow_out == 0) continue;
      (trace_.tracks[span.track].kind == TrackKind::unit ? unit_span_ : role_span_)[span.flow_out].push_back(i);
    }
    for (auto& spans : by_track_)  // outer spans first
      std::sort(spans.begin(), spans.end(), [&](uint32_t a, uint32_t b) {
        const Span &x = trace_.spans[a], &y = trace_.spans[b];
        return std::tie(x.begin, y.end, y.sequence) < std::tie(y.begin, x.end, x.sequence);
      });
  }

  void index_barriers() {
    std::unordered_map<std::string_view, int16_t> names;
    for (size_t i = 0; i < trace_.names.size(); ++i) names[trace_.names[i]] = static_cast<int16_t>(i);
    for (const Track& track : trace_.tracks) {
      if (track.kind != TrackKind::barrier) continue;
      const size_t bracket = track.name.find('[');
      const auto array = names.find(std::string_view(track.name).substr(0, bracket));
      if (array != names.end()) barriers_[track.id].array = array->second;
      if (bracket != std::string::npos)
        barriers_[track.id].stage = static_cast<int16_t>(std::atoi(track.name.c_str() + bracket + 1));
    }
    if (!trace_.metadata.part.empty())
      throw std::runtime_error(
          fmt::format("no critical path: the trace holds a part of the run ({}), and the path crosses all of it",
                      trace_.metadata.part));
    bool actors = false;
    for (uint32_t i = 0; i < trace_.barrier_events.size(); ++i) {
      const BarrierEvent& event = trace_.barrier_events[i];
      actors |= event.by != kNoTrack;
      if (event.kind == BarrierEventKind::phase_complete) barriers_[event.track].completed.push_back(i);
      if (event.kind == BarrierEventKind::wait_end && event.by != kNoTrack)
        wakes_[event.by].push_back({event.time, true, i});
    }
    if (trace_.barrier_events.empty())
      throw std::runtime_error(fmt::format(
          "no critical path: the trace has no barrier events, so nothing says who ended which wait; {}",
          broke_off_                        ? "the run broke off before the first"
          : trace_.metadata.source != "sim" ? "hardware and imported timelines never have them"
          : trace_.spans.empty()
              ? "no CTA ran"
              : "the kernel waits on none, or the trace was exported to Chrome JSON, which does not keep them"));
    if (!actors)
      throw std::runtime_error(fmt::format(
          "no critical path: barrier events of schema version {} do not say who caused them; record the "
          "run again (version {})",
          trace_.metadata.schema_version, kSchemaVersion));
  }

  bool is_role(TrackId track) const {
    return track < trace_.tracks.size() && trace_.tracks[track].kind == TrackKind::role;
  }

  /// The role whose last span ends latest, at most at `by`, among those that `admits`.
  template <class F>
  TrackId last_role_of(uint64_t by, F admits) const {
    TrackId last = kNoTrack;
    for (const Track& track : trace_.tracks) {
      if (track.kind != TrackKind::role || by_track_[track.id].empty() || !admits(track)) continue;
      if (life_[track.id].second > by || (last != kNoTrack && life_[track.id].second <= life_[last].second))
        continue;
      last = track.id;
    }
    return last;
  }
  TrackId last_role() const {
    // A finding ends the run where a role was at work; a hang has nobody at work, and ends with a wait.
    if (broke_off_ && broke_off_->id != "hang" && is_role(broke_off_->track) &&
        !by_track_[broke_off_->track].empty())
      return broke_off_->track;
    const TrackId last = last_role_of(UINT64_MAX, [](const Track&) { return true; });
    if (last == kNoTrack) throw std::runtime_error("no critical path: the trace has no spans of roles");
    return last;
  }

  /// The CTA's last role to end, of CTAs that may have made room for that of `role` or had to end before it: those
  /// whose spans have all ended at `by`.
  TrackId last_of_ended_ctas(TrackId role, uint64_t by, bool same_sm) const {
    const Track& own = trace_.tracks[role];
    std::map<TrackId, uint64_t> ends;
    for (const Track& track : trace_.tracks)
      if (track.kind == TrackKind::role && !by_track_[track.id].empty())
        ends[track.parent] = std::max(ends[track.parent], life_[track.id].second);
    return last_role_of(by, [&](const Track& track) {
      return track.parent != own.parent && track.cta < own.cta && ends[track.parent] <= by &&
             (!same_sm || track.sm == own.sm);
    });
  }

  const std::vector<Leaf>& leaves(TrackId role) {
    std::vector<Leaf>& leaves = leaves_[role];
    if (!leaves.empty() || by_track_[role].empty()) return leaves;
    std::vector<uint32_t> open;
    uint64_t at = life_[role].first;
    const auto until = [&](uint64_t end) {
      if (end > at) leaves.push_back({at, end, open.empty() ? kNoSpan : open.back()}), at = end;
    };
    const auto close_until = [&](uint64_t time) {
      for (; !open.empty() && trace_.spans[open.back()].end <= time; open.pop_back())
        until(trace_.spans[open.back()].end);
    };
    for (uint32_t i : by_track_[role]) {
      close_until(trace_.spans[i].begin);
      until(trace_.spans[i].begin);
      open.push_back(i);
    }
    close_until(UINT64_MAX);
    return leaves;
  }

  // ---- the walk, from now_ backwards

  void emit(uint64_t begin, TrackId track, Dependency kind, int16_t pipeline = kNoName, int16_t stage = -1,
            uint32_t span = kNoSpan) {
    if (begin >= now_) return;
    if (!reversed_.empty() && kind == Dependency::handover) {  // commit, way and wake-up are one
      PathSegment& later = reversed_.back();
      if (later.kind == kind && later.track == track && later.pipeline == pipeline && later.stage == stage &&
          later.span == span) {
        later.begin = now_ = begin;
        return;
      }
    }
    reversed_.push_back({begin, now_, track, kind, pipeline, stage, span});
    now_ = begin;
  }

  /// After the last role's end: what it stored becomes visible.
  void emit_last_stores(TrackId role) {
    const TrackId cta = trace_.tracks[role].parent;
    const auto unit = std::find_if(trace_.tracks.begin(), trace_.tracks.end(), [&](const Track& track) {
      return track.parent == cta && track.name == "tma store" && !by_track_[track.id].empty();
    });
    if (unit != trace_.tracks.end())
      emit(life_[role].second, unit->id, Dependency::tma_store);
    else
      emit(life_[role].second, role, Dependency::store);
  }

  /// What `role` did from `begin` to now.
  void emit_role(TrackId role, uint64_t begin) {
    const std::vector<Leaf>& all = leaves(role);
    auto leaf =
        std::upper_bound(all.begin(), all.end(), now_, [](uint64_t t, const Leaf& l) { return t <= l.begin; });
    while (now_ > begin && leaf != all.begin()) {
      --leaf;
      emit(std::max(begin, leaf->end), role, Dependency::code);
      if (leaf->span == kNoSpan) {
        emit(std::max(begin, leaf->begin), role, Dependency::code);
        continue;
      }
      const Span& span = trace_.spans[leaf->span];
      const bool open =
          broke_off_ && span.kind == SpanKind::wait && span.end == now_ && span.end == life_[role].second;
      emit(std::max(begin, leaf->begin), role, open ? Dependency::open_wait : work_of(span.kind),
           span.args.pipeline, span.args.pipeline == kNoName ? int16_t{-1} : span.args.stage, leaf->span);
    }
    emit(begin, role, Dependency::code);
  }

  /// One wait of `role` back; returns the role to go on with, kNoTrack at the beginning.
  TrackId step(TrackId role) {
    const std::vector<Wake>& wakes = wakes_[role];
    const auto after =
        std::upper_bound(wakes.begin(), wakes.end(), now_, [](uint64_t t, const Wake& w) { return t < w.time; });
    if (after == wakes.begin() || std::prev(after)->time < life_[role].first) return start_of(role);
    const Wake& wake = *std::prev(after);
    emit_role(role, wake.time);
    return wake.mbarrier ? back_from_mbarrier(role, trace_.barrier_events[wake.index])
                         : back_from_wakeup(role, trace_.wakeups[wake.index]);
  }

  /// Before its first span: another CTA had the SM, or the launch.
  TrackId start_of(TrackId role) {
    emit_role(role, std::min(now_, life_[role].first));
    TrackId before = last_of_ended_ctas(role, now_, /*same_sm=*/true);
    if (before == kNoTrack) before = last_of_ended_ctas(role, now_, /*same_sm=*/false);
    emit(before == kNoTrack ? 0 : life_[before].second, role, Dependency::launch);
    return before;
  }

  TrackId back_from_mbarrier(TrackId role, const BarrierEvent& wait) {
    const Barrier& barrier = barriers_[wait.track];
    const auto handover = [&](uint64_t begin) {
      emit(begin, role, Dependency::handover, barrier.array, barrier.stage);
    };
    if (wait.phase < 0 || size_t(wait.phase) >= barrier.completed.size()) return give_up(role);
    const BarrierEvent& done = trace_.barrier_events[barrier.completed[size_t(wait.phase)]];
    handover(done.time);
    if (is_role(done.by)) {
      handover(done.time - std::min<uint64_t>(done.time, done.delay));
      return done.by;
    }
    const uint32_t span = span_of(done.by, done.flow);
    if (span != kNoSpan) {
      handover(trace_.spans[span].end);
      return back_from_unit(role, span);
    }
    // A commit of MMAs that had finished: the committing role.
    const uint32_t commit = issue_span(done.flow, now_);
    if (commit == kNoSpan) return give_up(role);
    handover(trace_.spans[commit].end);
    return trace_.spans[commit].track;
  }

  TrackId back_from_wakeup(TrackId role, const Wakeup& wakeup) {
    if (is_role(wakeup.by)) {
      emit(wakeup.caused, role, Dependency::handover, wakeup.reason);
      return wakeup.by;
    }
    if (const uint32_t span = span_of(wakeup.by, wakeup.flow); span != kNoSpan) {
      emit(trace_.spans[span].end, role, work_of(trace_.spans[span].kind), kNoName, -1, span);
      return back_from_unit(role, span);
    }
    // A grid that had to complete, or something that this trace does not know.
    const TrackId before = last_of_ended_ctas(role, now_, /*same_sm=*/false);
    const bool grid = wakeup.reason != kNoName && trace_.names[size_t(wakeup.reason)] == "griddepcontrol.wait";
    if (!grid || before == kNoTrack || life_[before].second < wakeup.begin) {
      emit(wakeup.begin, role, grid ? Dependency::launch : Dependency::handover, wakeup.reason);
      return role;
    }
    emit(life_[before].second, role, Dependency::launch, wakeup.reason);
    return before;
  }

  /// From a point in a unit's span to whoever issued it.
  TrackId back_from_unit(TrackId waiting, uint32_t index) {
    for (;;) {
      const Span& span = trace_.spans[index];
      const uint32_t issue = issue_span(span.flow_in, span.begin);
      emit(span.begin, span.track, work_of(span.kind), span.args.pipeline, span.args.stage, index);
      const bool issued_late = issue != kNoSpan && trace_.spans[issue].end >= span.begin;
      if (!issued_late && span.kind == SpanKind::umma) {
        // The pipe was busy with the MMAs before, which end later than they let the next begin.
        const uint32_t before = span_before(span.track, index);
        if (before != kNoSpan) {
          index = before;
          continue;
        }
      }
      if (issue == kNoSpan) return give_up(waiting);
      emit(std::min(now_, trace_.spans[issue].end), span.track, work_of(span.kind), span.args.pipeline,
           span.args.stage, index);
      return trace_.spans[issue].track;
    }
  }

  /// Nothing says what came before: the rest of the path is unknown.
  TrackId give_up(TrackId role) {
    emit(0, role, Dependency::unknown);
    return kNoTrack;
  }

  uint32_t span_of(TrackId unit, uint64_t flow) const {
    const auto found = unit_span_.find(flow);
    if (flow == 0 || found == unit_span_.end()) return kNoSpan;
    for (uint32_t i : found->second)
      if (trace_.spans[i].track == unit) return i;
    return kNoSpan;
  }

  /// The role's span in which the flow begins: it was open at `time`, or the last to begin before.
  uint32_t issue_span(uint64_t flow, uint64_t time) const {
    const auto found = role_span_.find(flow);
    if (flow == 0 || found == role_span_.end()) return kNoSpan;
    const uint32_t span = found->second.front();
    return trace_.spans[span].begin <= time ? span : kNoSpan;
  }

  uint32_t span_before(TrackId unit, uint32_t index) const {
    const std::vector<uint32_t>& spans = by_track_[unit];
    const Span& span = trace_.spans[index];
    auto at = std::lower_bound(spans.begin(), spans.end(), span.begin,
                               [&](uint32_t i, uint64_t t) { return trace_.spans[i].begin < t; });
    return at == spans.begin() ? kNoSpan : *std::prev(at);
  }

  const Finding* broke_off_ = nullptr;  ///< what ended the run, if it did not come to its end
  const Trace& trace_;
  uint64_t now_ = 0;  ///< the path from here to the end is known
  std::vector<PathSegment> reversed_;
  std::vector<std::vector<uint32_t>> by_track_;                                ///< spans, by begin, outer first
  std::vector<std::vector<Leaf>> leaves_;                                      ///< of role tracks, once asked for
  std::vector<std::pair<uint64_t, uint64_t>> life_;                            ///< by track: first begin, last end
  std::vector<std::vector<Wake>> wakes_;                                       ///< by role track
  std::vector<Barrier> barriers_;                                              ///< by track
  std::unordered_map<uint64_t, std::vector<uint32_t>> unit_span_, role_span_;  ///< by the flow that begins there
};

std::vector<PathShare> shares_of(const Trace& trace, const CriticalPath& path) {
  std::map<std::tuple<Dependency, std::string, int16_t>, PathShare> shares;
  for (const PathSegment& segment : path.segments) {
    const std::string& track = trace.tracks[segment.track].name;
    PathShare& share = shares[{segment.kind, track, segment.pipeline}];
    share.kind = segment.kind, share.track = track;
    if (segment.pipeline != kNoName) share.pipeline = trace.names[size_t(segment.pipeline)];
    share.ticks += segment.end - segment.begin;
    ++share.segments;
  }
  std::vector<PathShare> sorted;
  for (auto& [key, share] : shares) sorted.push_back(std::move(share));
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.ticks > b.ticks; });
  return sorted;
}

}  // namespace

uint64_t CriticalPath::ticks(Dependency kind) const {
  uint64_t sum = 0;
  for (const PathSegment& segment : segments)
    if (segment.kind == kind) sum += segment.end - segment.begin;
  return sum;
}

CriticalPath critical_path(const Trace& trace) {
  CriticalPath path = Walk(trace).run();
  path.shares = shares_of(trace, path);
  path.verdict = detail::path_verdict(trace, path);
  return path;
}

}  // namespace sm100::traces
