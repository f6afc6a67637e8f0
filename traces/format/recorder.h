// SPDX-License-Identifier: Apache-2.0
/// Records a trace: append-only and cheap (a bounds check and a copy per event), no locks, no I/O.
///
///   Recorder recorder;
///   TrackId gpu = recorder.add_track(TrackKind::gpu, "B200");
///   TrackId mma = recorder.add_track(TrackKind::role, "mma", gpu, /*sm=*/0, /*cta=*/0, /*warp=*/6);
///   recorder.span({.begin = 10, .end = 20, .track = mma, .kind = SpanKind::mma_issue});
///   write_pftrace(recorder.trace(), "run.pftrace");
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

/// What of a run is recorded.
struct Selection {
  std::vector<std::pair<int, int>> sms;  ///< from, to, both included; empty: all
  uint64_t begin = 0, end = UINT64_MAX;  ///< ticks; spans that reach into [begin, end], whole
  bool all() const { return sms.empty() && begin == 0 && end == UINT64_MAX; }
  bool has_sm(int sm) const;
  std::string text() const;  ///< "SMs 0-3, 7, cycles 1,000 to 2,000"
};

class Recorder {
 public:
  Recorder() = default;
  explicit Recorder(Selection selection) : selection_(std::move(selection)), selecting_(!selection_.all()) {}

  /// The parent is an earlier track (or kNoTrack); throws std::invalid_argument otherwise.
  TrackId add_track(TrackKind kind, std::string_view name, TrackId parent = kNoTrack, int sm = -1, int cta = -1,
                    int warp = -1);

  /// The index of `name` in Trace::names.  Hash and lookup: intern once, not per event.
  int16_t intern(std::string_view name);

  /// A fresh flow id, never 0.
  uint64_t new_flow() { return ++last_flow_; }

  /// Appends a span and numbers it on its track; the sequence it came with is overwritten.
  void span(Span span) {
    if (!wanted(span.track, span.begin, span.end)) return;
    span.sequence = next_sequence_[span.track]++;
    append(trace_.spans, span);
  }

  void barrier(const BarrierEvent& event) {
    if (wanted(event.track, event.time, event.time)) append(trace_.barrier_events, event);
  }
  void wakeup(const Wakeup& wakeup) {
    if (wanted(wakeup.track, wakeup.begin, wakeup.end)) trace_.wakeups.push_back(wakeup);
  }
  /// Recorded wherever and whenever it happened.
  void finding(Finding finding) { trace_.findings.push_back(std::move(finding)); }

  /// Takes out the tracks of CTAs of which the selection has recorded nothing, and says in the metadata what was
  /// selected. To be called once, when all is recorded; does nothing without a selection.
  void finish();

  Trace& trace() { return trace_; }
  const Trace& trace() const { return trace_; }

 private:
  bool wanted(TrackId track, uint64_t begin, uint64_t end) const {
    return !selecting_ || (selected_[track] != 0 && begin <= selection_.end && end >= selection_.begin);
  }

  /// Grows early and far: memory that is only reserved costs nothing, touching it twice in a copy does.
  template <class Event>
  static void append(std::vector<Event>& events, const Event& event) {
    if (events.size() == events.capacity()) events.reserve(events.capacity() < kFirst ? kFirst : 4 * events.size());
    events.push_back(event);
  }
  static constexpr size_t kFirst = size_t{1} << 20;

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Trace trace_;
  std::vector<uint32_t> next_sequence_;  ///< by track
  Selection selection_;
  bool selecting_ = false;
  std::vector<uint8_t> selected_;  ///< by track: its SM is
  std::unordered_map<std::string, int16_t, Hash, std::equal_to<>> name_index_;
  uint64_t last_flow_ = 0;
};

}  // namespace sm100::traces
