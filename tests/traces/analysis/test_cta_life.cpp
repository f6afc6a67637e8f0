// SPDX-License-Identifier: Apache-2.0
// The intervals of a CTA's life, on a timeline worked by hand.
#include "traces/analysis/cta_life.h"

#include "catch.h"
#include "traces/format/recorder.h"

using namespace sm100::traces;

namespace {

constexpr int kSteps = 32, kStages = 2, kPeriod = 10;

/// One SM with CTAs, one after the other, 500 ticks apart; a tick is 2 ns.
class Timeline {
 public:
  Timeline() {
    recorder_.trace().metadata.ticks_per_second = 0.5e9;
    empty_ = recorder_.intern("input_empty"), full_ = recorder_.intern("input_full");
    accum_ = recorder_.intern("accum_full");
  }

  /// @param late  ticks that the first data comes later than 20
  void add_cta(int id, uint64_t begin, uint64_t late) {
    const TrackId cta = recorder_.add_track(TrackKind::cta, "CTA", kNoTrack, 0, id);
    const TrackId load = recorder_.add_track(TrackKind::role, "load", cta, 0, id, 0),
                  mma = recorder_.add_track(TrackKind::role, "mma", cta, 0, id, 1);
    for (const TrackId track : {load, mma}) span(track, SpanKind::setup, begin, begin + 30);
    for (int k = 0; k < kSteps; ++k) {
      const uint64_t at = begin + 40 + uint64_t(k * kPeriod);
      span(load, SpanKind::wait, at - 2, at, {.pipeline = empty_, .k = k});
      span(load, SpanKind::load_issue, at, at + 1, {.stage = int16_t(k % kStages), .k = k});
      span(mma, SpanKind::wait, at + 1, at + 20 + late, {.pipeline = full_, .k = k});
      span(mma, SpanKind::mma_issue, at + 20 + late, at + 21 + late, {.k = k});
    }
    for (const TrackId track : {load, mma}) {
      span(track, SpanKind::wait, begin + 370, begin + 400, {.pipeline = accum_});
      span(track, SpanKind::tile, begin + 400, begin + 450);
    }
  }
  Trace& trace() { return recorder_.trace(); }

 private:
  void span(TrackId track, SpanKind kind, uint64_t begin, uint64_t end, SpanArgs args = {}) {
    recorder_.span({.begin = begin, .end = end, .track = track, .kind = kind, .args = args});
  }
  Recorder recorder_;
  int16_t empty_, full_, accum_;
};

const CtaInterval& interval(const std::vector<CtaInterval>& intervals, const std::string& what) {
  for (const CtaInterval& l : intervals)
    if (l.what == what) return l;
  FAIL("no interval " << what);
  return intervals.front();
}

}  // namespace

TEST_CASE("life of a CTA: what is first on its SM is apart from what follows", "[life]") {
  Timeline t;
  t.add_cta(0, 1000, 40);
  t.add_cta(1, 1500, 5);
  t.add_cta(2, 2000, 5);
  const std::vector<CtaInterval> intervals = cta_intervals(t.trace());
  CHECK(interval(intervals, "setup").first_wave.count == 2);  // warps
  CHECK(interval(intervals, "setup").later_waves.count == 4);
  CHECK(interval(intervals, "setup").later_waves.median == 60);
  CHECK(interval(intervals, "start to first copy").first_wave.median == 80);
  CHECK(interval(intervals, "first copy to data seen").first_wave.median == 120);
  CHECK(interval(intervals, "first copy to data seen").later_waves.median == 50);
  CHECK(interval(intervals, "first copy to data seen").later_waves.count == 2);
  CHECK(interval(intervals, "start to first MMA").later_waves.median == 2 * (40 + 25));
  CHECK(interval(intervals, "first MMA to slot free").later_waves.median ==
        2 * (60 - 65));  // this ring does not wait
  CHECK(interval(intervals, "k-block period").first_wave.median == 2 * kPeriod);
  CHECK(interval(intervals, "copy to data, where waited for").first_wave.count ==
        22);  // k = 8 ... 29; 118 ns is a wait
  for (const CtaInterval& l : intervals) CHECK(l.what != "MMA to slot free, where waited for");  // 4 ns is none
  CHECK(interval(intervals, "last copy to accumulator").first_wave.median ==
        2 * (400 - 351));  // not the wait alone: it begins late where the warp does other things first
  CHECK(interval(intervals, "epilogue").first_wave.median == 100);
  CHECK(interval(intervals, "CTA").first_wave.median == 900);
  CHECK(interval(intervals, "gap to the SM's next CTA").first_wave.count == 0);
  CHECK(interval(intervals, "gap to the SM's next CTA").later_waves.median == 100);
}

TEST_CASE("life of a CTA: none where the load warp does not wait for the accumulator, as in persistent kernels",
          "[life]") {
  Timeline t;
  t.add_cta(0, 1000, 0);
  CHECK_FALSE(cta_intervals(t.trace()).empty());
  for (Span& span : t.trace().spans)
    if (t.trace().tracks[span.track].name == "load" && span.kind == SpanKind::wait && span.args.k < 0)
      span.args.pipeline = kNoName;
  CHECK(cta_intervals(t.trace()).empty());
}

TEST_CASE("life of a CTA: roles are known by what they issue, whatever their names", "[life]") {
  Timeline t;
  t.add_cta(0, 1000, 0);
  const size_t intervals = cta_intervals(t.trace()).size();
  for (Track& track : t.trace().tracks) {
    if (track.name == "load") track.name = "fetch";
    if (track.name == "mma") track.name = "multiply";
  }
  CHECK(intervals > 5);
  CHECK(cta_intervals(t.trace()).size() == intervals);
}

TEST_CASE("life of a CTA in two traces: those that both have", "[life]") {
  Timeline a, b;
  a.add_cta(0, 1000, 0);
  b.add_cta(0, 1000, 100);
  b.add_cta(1, 1500, 0);
  const auto diff = compare_cta_intervals(a.trace(), b.trace());
  REQUIRE_FALSE(diff.empty());
  CHECK(diff[0].what == "setup");
  for (const CtaIntervalDiff& leg : diff) {
    CHECK(leg.what != "gap to the SM's next CTA");
    CHECK(leg.later_waves_a.count == 0);
    if (leg.what == "first copy to data seen") CHECK(leg.first_wave_b.median - leg.first_wave_a.median == 200);
  }
}
