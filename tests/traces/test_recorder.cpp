#include "catch.h"
#include "traces/recorder.h"

using namespace sm100;
using namespace sm100::traces;

TEST_CASE("every kind's name leads back to the kind", "[traces]") {
  for (int i = 0; i < kSpanKinds; ++i) {
    const auto kind = static_cast<SpanKind>(i);
    CHECK(span_kind(name(kind)) == kind);
  }
  for (int i = 0; i < kBarrierEventKinds; ++i) {
    const auto kind = static_cast<BarrierEventKind>(i);
    CHECK(barrier_event_kind(name(kind)) == kind);
  }
  for (int i = 0; i < kTrackKinds; ++i) {
    const auto kind = static_cast<TrackKind>(i);
    CHECK(track_kind(name(kind)) == kind);
  }
  CHECK_FALSE(span_kind("load"));
  CHECK(name(SpanKind::clc_cancel) == "clc_cancel");
  CHECK(name(BarrierEventKind::wait_end) == "wait_end");
}

TEST_CASE("spans are numbered on their own track", "[traces]") {
  Recorder recorder;
  const TrackId a = recorder.add_track(TrackKind::role, "a");
  const TrackId b = recorder.add_track(TrackKind::role, "b", kNoTrack, 3, 2, 1);
  recorder.span({.begin = 0, .end = 1, .track = a, .sequence = 99});
  recorder.span({.begin = 0, .end = 1, .track = b});
  recorder.span({.begin = 1, .end = 2, .track = a});
  const Trace& trace = recorder.trace();
  CHECK(trace.spans[0].sequence == 0);
  CHECK(trace.spans[1].sequence == 0);
  CHECK(trace.spans[2].sequence == 1);
  CHECK(trace.tracks[b] == Track{b, TrackKind::role, "b", kNoTrack, 3, 2, 1});
}

TEST_CASE("a name is interned once, flows are fresh, parents come first", "[traces]") {
  Recorder recorder;
  const int16_t full = recorder.intern("input_full");
  const int16_t empty = recorder.intern("input_empty");
  CHECK(full != empty);
  CHECK(recorder.intern("input_full") == full);
  CHECK(recorder.trace().names == std::vector<std::string>{"input_full", "input_empty"});
  const uint64_t flow = recorder.new_flow();
  CHECK(flow != 0);
  CHECK(recorder.new_flow() != flow);
  CHECK_THROWS_AS(recorder.add_track(TrackKind::role, "orphan", 5), std::invalid_argument);
}

TEST_CASE("sort_events orders spans by begin, track and sequence, and keeps barrier events of one time",
          "[traces]") {
  Trace trace;
  trace.spans = {{.begin = 5, .end = 6, .track = 0, .sequence = 1},
                 {.begin = 1, .end = 9, .track = 1, .sequence = 0},
                 {.begin = 1, .end = 9, .track = 0, .sequence = 0}};
  trace.barrier_events = {{.time = 7, .amount = 1}, {.time = 3, .amount = 2}, {.time = 3, .amount = 1}};
  sort_events(trace);
  CHECK(trace.spans[0].track == 0);
  CHECK(trace.spans[1].track == 1);
  CHECK(trace.spans[2].begin == 5);
  CHECK(trace.barrier_events[0].amount == 2);
  CHECK(trace.barrier_events[1].amount == 1);
  CHECK(trace.barrier_events[2].time == 7);
}
