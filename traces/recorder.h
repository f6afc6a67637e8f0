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

#include "traces/schema.h"

namespace sm100::traces {

class Recorder {
 public:
  /// The parent is an earlier track (or kNoTrack); throws std::invalid_argument otherwise.
  TrackId add_track(TrackKind kind, std::string_view name, TrackId parent = kNoTrack, int sm = -1, int cta = -1,
                    int warp = -1);

  /// The index of `name` in Trace::names.  Hash and lookup: intern once, not per event.
  int16_t intern(std::string_view name);

  /// A fresh flow id, never 0.
  uint64_t new_flow() { return ++last_flow_; }

  /// Appends a span and numbers it on its track; the sequence it came with is overwritten.
  void span(Span span) {
    span.sequence = next_sequence_[span.track]++;
    append(trace_.spans, span);
  }

  void barrier(const BarrierEvent& event) { append(trace_.barrier_events, event); }
  void wakeup(const Wakeup& wakeup) { trace_.wakeups.push_back(wakeup); }
  void finding(Finding finding) { trace_.findings.push_back(std::move(finding)); }

  Trace& trace() { return trace_; }
  const Trace& trace() const { return trace_; }

 private:
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
  std::unordered_map<std::string, int16_t, Hash, std::equal_to<>> name_index_;
  uint64_t last_flow_ = 0;
};

}  // namespace sm100::traces
