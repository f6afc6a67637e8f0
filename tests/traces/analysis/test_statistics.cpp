// SPDX-License-Identifier: Apache-2.0
#include "catch.h"
#include "traces/analysis/statistics.h"
#include "traces/sample_trace.h"

using namespace sm100;
using namespace sm100::traces;

TEST_CASE("a role's time is divided into working and waiting, over all CTAs", "[traces]") {
  Recorder recorder;
  const int16_t full = recorder.intern("input_full"), empty = recorder.intern("output_empty");
  for (int cta = 0; cta < 2; ++cta) {
    const TrackId mma = recorder.add_track(TrackKind::role, "mma", kNoTrack, cta, cta, 6);
    recorder.span({.begin = 100, .end = 110, .track = mma, .kind = SpanKind::wait, .args = {.pipeline = empty}});
    recorder.span({.begin = 110, .end = 140, .track = mma, .kind = SpanKind::wait, .args = {.pipeline = full}});
    recorder.span({.begin = 140, .end = 200, .track = mma, .kind = SpanKind::mma_issue});
    recorder.span({.begin = 100, .end = 200, .track = mma, .kind = SpanKind::tile});
  }
  const TrackId unit = recorder.add_track(TrackKind::unit, "umma");
  recorder.span({.begin = 0, .end = 1000, .track = unit, .kind = SpanKind::umma});
  const TrackId load = recorder.add_track(TrackKind::role, "load");
  recorder.span({.begin = 5, .end = 9, .track = load, .kind = SpanKind::wait});

  const auto roles = role_statistics(recorder.trace());
  REQUIRE(roles.size() == 2);
  CHECK(roles[0].role == "mma");
  CHECK(roles[0].tracks == 2);
  CHECK(roles[0].total == 200);
  CHECK(roles[0].working == 120);
  CHECK(roles[0].waiting ==
        std::vector<std::pair<std::string, uint64_t>>{{"input_full", 60}, {"output_empty", 20}});
  CHECK(roles[1].role == "load");
  CHECK(roles[1].working == 0);
  CHECK(roles[1].waiting == std::vector<std::pair<std::string, uint64_t>>{{"(unnamed)", 4}});
}

TEST_CASE("durations by kind: nearest rank, largest total first", "[traces]") {
  Recorder recorder;
  const TrackId track = recorder.add_track(TrackKind::role, "mma");
  for (uint64_t duration : {30, 10, 20, 100, 50, 40, 60, 70, 80, 90}) {
    recorder.span({.begin = 1000, .end = 1000 + duration, .track = track, .kind = SpanKind::wait});
  }
  recorder.span({.begin = 0, .end = 7, .track = track, .kind = SpanKind::mma_commit});
  const auto kinds = span_statistics(recorder.trace());
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].kind == SpanKind::wait);
  CHECK(kinds[0].count == 10);
  CHECK(kinds[0].p10 == 10);
  CHECK(kinds[0].median == 50);
  CHECK(kinds[0].p90 == 90);
  CHECK(kinds[0].max == 100);
  CHECK(kinds[0].total == 550);
  CHECK(kinds[1].kind == SpanKind::mma_commit);
  CHECK(kinds[1].median == 7);
}

TEST_CASE("the text says the important thing first", "[traces]") {
  CHECK(format_statistics(sample_trace()) ==
        R"(684 cycles (0.37 us); load is the busiest role and works 100.0% of its time
sim, b200, scenarios/"matmul".toml
FINDING hang at 764 cycles: can never wake
INCOMPLETE: 3 events were dropped while recording

role  tracks          cycles    works    waits  waits for
load       1              10   100.0%     0.0%
mma        1             684     9.4%    90.6%  input_full 90.6%

span, cycles          count       p10    median       p90         max           total
tma_load                  2       540       540       600         600           1,140
tile                      1       684       684       684         684             684
tmem_alloc                1       684       684       684         684             684
wait input_full           1       620       620       620         620             620
mma_issue                 1        64        64        64          64              64
load_issue                1        10        10        10          10              10
mma_commit                1         0         0         0           0               0
)");
}

TEST_CASE("waits are told apart by what they wait for, and hardware counts ns", "[traces]") {
  Recorder recorder;
  recorder.trace().metadata.source = "hardware";
  recorder.trace().metadata.ticks_per_second = 1e9;
  const int16_t full = recorder.intern("input_full"), accum = recorder.intern("accum_full");
  const TrackId track = recorder.add_track(TrackKind::role, "mma");
  recorder.span({.begin = 0, .end = 32, .track = track, .args = {.pipeline = full}});
  recorder.span({.begin = 64, .end = 128, .track = track, .args = {.pipeline = full}});
  recorder.span(
      {.begin = 128, .end = 192, .track = track, .kind = SpanKind::mma_issue, .args = {.pipeline = full}});
  recorder.span({.begin = 192, .end = 1192, .track = track, .args = {.pipeline = accum}});
  recorder.span({.begin = 1192, .end = 1200, .track = track});
  CHECK(format_statistics(recorder.trace()) ==
        R"(1,200 ns (1.20 us); no role works more than 8.0% of its time (mma)
hardware

role  tracks              ns    works    waits  waits for
mma        1           1,200     8.0%    92.0%  accum_full 83.3%, input_full 8.0%, (unnamed) 0.7%

span, ns              count       p10    median       p90         max           total
wait accum_full           1     1,000     1,000     1,000       1,000           1,000
wait input_full           2        32        32        64          64              96
mma_issue                 1        64        64        64          64              64
wait                      1         8         8         8           8               8
)");
  recorder.trace().metadata.ticks_per_second = 2e9;
  CHECK(format_statistics(recorder.trace()).starts_with("1,200 ticks (0.60 us)"));
}

TEST_CASE("the headline names the tensor core where it is busier than any role", "[traces]") {
  Recorder recorder;
  recorder.trace().metadata = {.source = "sim", .device = "b200", .ticks_per_second = 1e9, .run_ticks = 1000};
  const TrackId gpu = recorder.add_track(TrackKind::gpu, "B200");
  for (int sm = 0; sm < 2; ++sm) {
    const TrackId cta = recorder.add_track(TrackKind::cta, "CTA", gpu, sm, sm);
    const TrackId load = recorder.add_track(TrackKind::role, "load", cta, sm, sm, 5);
    const TrackId umma = recorder.add_track(TrackKind::unit, "umma", cta, sm, sm);
    // Overlapping spans count once.
    recorder.span({.begin = 20, .end = 900, .track = umma, .kind = SpanKind::umma});
    recorder.span({.begin = 500, .end = 1000, .track = umma, .kind = SpanKind::umma});
    recorder.span({.begin = 0, .end = 930, .track = load, .kind = SpanKind::wait});
    recorder.span({.begin = 930, .end = 1000, .track = load, .kind = SpanKind::load_issue});
  }
  CHECK(tensor_core_statistics(recorder.trace())->share() == 0.98);
  CHECK(format_statistics(recorder.trace())
            .starts_with(
                "1,000 cycles (1.00 us); the tensor core has MMAs in flight 98.0% of 2 SMs' time; no role works "
                "more than 7.0% of its time (load)\n"));
}

TEST_CASE("the MMAs of a pair keep the tensor cores of both its SMs busy", "[traces]") {
  for (const std::string launch : {"", "gemm."}) {
    Recorder recorder;
    recorder.trace().metadata = {.configuration = "{\"" + launch + "cta_group\": 2}", .run_ticks = 1000};
    const TrackId gpu = recorder.add_track(TrackKind::gpu, "B200");
    for (int cta = 0; cta < 4; ++cta) {
      const TrackId track = recorder.add_track(TrackKind::cta, "CTA", gpu, cta, cta);
      recorder.trace().tracks[track].cluster = cta / 2 * 2;
      recorder.trace().tracks[track].rank = cta % 2;
      recorder.add_track(TrackKind::role, launch + "mma", track, cta, cta, 6);
      const TrackId umma = recorder.add_track(TrackKind::unit, "umma", track, cta, cta);
      if (cta == 2) recorder.span({.begin = 100, .end = 900, .track = umma, .kind = SpanKind::umma});
    }
    CAPTURE(launch);
    CHECK(tensor_core_statistics(recorder.trace())->busy == 1600);
    CHECK(tensor_core_statistics(recorder.trace())->share() == 0.4);
  }
}

TEST_CASE("the length of a run is that of the metadata, else of the spans", "[traces]") {
  Trace trace = sample_trace();
  CHECK(run_length(trace) == 684);
  trace.metadata.run_ticks = 1000;
  CHECK(run_length(trace) == 1000);
  CHECK(format_statistics(trace).starts_with("1,000 cycles (0.54 us); "));
  CHECK(run_length(Trace{}) == 0);
}

TEST_CASE("an empty trace has empty statistics", "[traces]") {
  CHECK(role_statistics(Trace{}).empty());
  CHECK(span_statistics(Trace{}).empty());
  CHECK(format_statistics(Trace{}) == "0 cycles\nunknown source\n");
}
