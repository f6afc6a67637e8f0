// SPDX-License-Identifier: Apache-2.0
#include "catch.h"
#include "traces/format/recorder.h"

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

TEST_CASE("a selection records its SMs and its window, and the tracks of what it has recorded", "[traces]") {
  Recorder recorder({.sms = {{1, 2}}, .begin = 100, .end = 200});
  const TrackId gpu = recorder.add_track(TrackKind::gpu, "GPU");
  std::vector<TrackId> roles, barriers;
  for (int sm = 0; sm < 4; ++sm) {
    const TrackId cta = recorder.add_track(TrackKind::cta, "CTA", gpu, sm, sm);
    roles.push_back(recorder.add_track(TrackKind::role, "mma", cta, sm, sm, 6));
    barriers.push_back(recorder.add_track(TrackKind::barrier, "input_full[0]", cta, sm, sm));
  }
  for (int sm = 0; sm < 3; ++sm) {
    recorder.span({.begin = 0, .end = 99, .track = roles[size_t(sm)]});     // before
    if (sm == 2) continue;                                                  // nothing of SM 2 is in the window
    recorder.span({.begin = 90, .end = 100, .track = roles[size_t(sm)]});   // reaches into it
    recorder.span({.begin = 200, .end = 300, .track = roles[size_t(sm)]});  // begins in it
    recorder.span({.begin = 201, .end = 300, .track = roles[size_t(sm)]});
    recorder.barrier({.time = 150, .track = barriers[size_t(sm)], .by = roles[0]});
    recorder.barrier({.time = 250, .track = barriers[size_t(sm)], .by = roles[1]});
    recorder.wakeup({.begin = 120, .end = 130, .track = roles[size_t(sm)], .by = roles[1]});
  }
  recorder.finding({.time = 500, .track = roles[3], .id = "MB5"});  // wherever and whenever
  recorder.finish();
  const Trace& trace = recorder.trace();
  CHECK(trace.metadata.part == "SMs 1-2, cycles 100 to 200");
  REQUIRE(trace.tracks.size() == 7);  // the GPU, and CTA, role and barrier of SM 1 and of SM 3
  for (const Track& track : trace.tracks) {
    CHECK(track.id == TrackId(&track - trace.tracks.data()));
    CHECK((track.parent == kNoTrack || track.parent < track.id));
    CHECK((track.sm == -1 || track.sm == 1 || track.sm == 3));
  }
  REQUIRE(trace.spans.size() == 2);
  CHECK(trace.spans[0].begin == 90);
  CHECK(trace.spans[0].sequence == 0);
  CHECK(trace.spans[1].begin == 200);
  CHECK(trace.tracks[trace.spans[1].track].sm == 1);
  REQUIRE(trace.barrier_events.size() == 1);
  CHECK(trace.barrier_events[0].by == kNoTrack);  // SM 0 is not recorded
  REQUIRE(trace.wakeups.size() == 1);
  CHECK(trace.tracks[trace.wakeups[0].by].sm == 1);
  REQUIRE(trace.findings.size() == 1);
  CHECK(trace.tracks[trace.findings[0].track].sm == 3);
}

TEST_CASE("without a selection finish changes nothing", "[traces]") {
  Recorder recorder;
  recorder.add_track(TrackKind::role, "nobody");
  recorder.finish();
  CHECK(recorder.trace().tracks.size() == 1);
  CHECK(recorder.trace().metadata.part.empty());
}

TEST_CASE("a selection in words", "[traces]") {
  CHECK(Selection{}.text().empty());
  CHECK(Selection{.sms = {{0, 3}, {7, 7}}}.text() == "SMs 0-3, 7");
  CHECK(Selection{.begin = 1000}.text() == "cycles from 1,000");
  CHECK(Selection{.sms = {{2, 2}}, .end = 99}.text() == "SMs 2, cycles 0 to 99");
}
