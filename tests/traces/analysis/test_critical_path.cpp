// SPDX-License-Identifier: Apache-2.0
#include "traces/analysis/critical_path.h"

#include "catch.h"
#include "traces/format/recorder.h"

using namespace sm100::traces;

namespace {

/// Two rounds on a ring of one stage.  load issues a copy, mma waits for it and multiplies, the commit frees the
/// stage, load issues again; the epilogue waits for the last MMAs.  mma's first wait is for warp load at a named
/// barrier.
struct Rounds {
  Recorder recorder;
  TrackId gpu = recorder.add_track(TrackKind::gpu, "GPU");
  TrackId cta = recorder.add_track(TrackKind::cta, "CTA 0", gpu, 3, 0);
  TrackId load = recorder.add_track(TrackKind::role, "load", cta, 3, 0, 0);
  TrackId mma = recorder.add_track(TrackKind::role, "mma", cta, 3, 0, 1);
  TrackId tma = recorder.add_track(TrackKind::unit, "tma load", cta, 3, 0);
  TrackId umma = recorder.add_track(TrackKind::unit, "umma", cta, 3, 0);
  TrackId full = recorder.add_track(TrackKind::barrier, "input_full[0]", cta, 3, 0);
  TrackId empty = recorder.add_track(TrackKind::barrier, "input_empty[0]", cta, 3, 0);
  int16_t input_full = recorder.intern("input_full"), input_empty = recorder.intern("input_empty");

  void completes(TrackId barrier, int phase, uint64_t time, TrackId by, uint64_t flow) {
    recorder.barrier({.time = time,
                      .track = barrier,
                      .kind = BarrierEventKind::phase_complete,
                      .phase = phase,
                      .by = by,
                      .flow = flow});
  }
  void waits(TrackId role, TrackId barrier, int16_t array, int phase, uint64_t begin, uint64_t end, uint64_t flow) {
    recorder.barrier(
        {.time = begin, .track = barrier, .kind = BarrierEventKind::wait_begin, .phase = phase, .by = role});
    recorder.barrier({.time = end,
                      .track = barrier,
                      .kind = BarrierEventKind::wait_end,
                      .phase = phase,
                      .by = role,
                      .flow = flow});
    recorder.span({.begin = begin,
                   .end = end,
                   .track = role,
                   .kind = SpanKind::wait,
                   .args = {.pipeline = array, .stage = 0, .phase = phase},
                   .flow_in = flow});
  }
  void copies(uint64_t issued, uint64_t begin, uint64_t end, uint64_t issue, uint64_t flow) {
    recorder.span(
        {.begin = issued, .end = begin + 10, .track = load, .kind = SpanKind::load_issue, .flow_out = issue});
    recorder.span({.begin = begin,
                   .end = end,
                   .track = tma,
                   .kind = SpanKind::tma_load,
                   .args = {.pipeline = input_full, .stage = 0, .bytes = 1024},
                   .flow_in = issue,
                   .flow_out = flow});
  }
  void multiplies(uint64_t issued, uint64_t begin, uint64_t end, uint64_t issue, uint64_t flow) {
    recorder.span(
        {.begin = issued, .end = begin + 5, .track = mma, .kind = SpanKind::mma_issue, .flow_out = issue});
    recorder.span({.begin = begin,
                   .end = end,
                   .track = umma,
                   .kind = SpanKind::umma,
                   .args = {.pipeline = input_empty, .stage = 0},
                   .flow_in = issue,
                   .flow_out = flow});
  }

  Rounds() {
    recorder.trace().metadata.source = "sim";
    recorder.span({.begin = 100, .end = 120, .track = load, .kind = SpanKind::setup});
    recorder.span({.begin = 100, .end = 130, .track = mma, .kind = SpanKind::setup});
    recorder.wakeup({.begin = 110,
                     .end = 130,
                     .track = mma,
                     .reason = recorder.intern("named barrier 1"),
                     .by = load,
                     .caused = 120});
    copies(120, 125, 400, 1, 2);
    completes(full, 0, 400, tma, 2);
    waits(mma, full, input_full, 0, 130, 420, 2);
    multiplies(420, 430, 500, 3, 4);
    completes(empty, 0, 510, umma, 4);  // the commit takes 10
    waits(load, empty, input_empty, 0, 135, 530, 4);
    copies(530, 540, 800, 5, 6);
    completes(full, 1, 800, tma, 6);
    waits(mma, full, input_full, 1, 435, 820, 6);
    multiplies(820, 822, 900, 7, 8);
    // No new MMAs: the commit is the role's own, and ends the run where load sees the stage free.
    completes(empty, 1, 910, umma, 8);
    waits(load, empty, input_empty, 1, 550, 930, 8);
    recorder.span({.begin = 930, .end = 950, .track = load, .kind = SpanKind::drain});
  }
};

std::string text(const Trace& trace, const CriticalPath& path) {
  std::string all;
  for (const PathSegment& s : path.segments) {
    all += std::to_string(s.begin) + "-" + std::to_string(s.end) + " " + trace.tracks[s.track].name + ": ";
    all += name(s.kind);
    if (s.pipeline != kNoName) all += ", " + trace.names[size_t(s.pipeline)];
    all += "\n";
  }
  return all;
}

std::string error_of(const Trace& trace) {
  try {
    critical_path(trace);
  } catch (const std::runtime_error& error) { return error.what(); }
  return "";
}

}  // namespace

TEST_CASE("the path goes from wait to cause, over units and roles, to the start", "[critical-path]") {
  const Rounds rounds;
  const Trace& trace = rounds.recorder.trace();
  const CriticalPath path = critical_path(trace);
  CHECK(text(trace, path) ==
        "0-100 load: launch, setup\n"
        "100-120 load: launch, setup\n"
        "120-125 load: TMA issue\n"
        "125-400 tma load: TMA transfer, input_full\n"
        "400-420 mma: barrier hand-over and wake-up, input_full\n"
        "420-430 mma: MMA issue\n"
        "430-500 umma: UMMA execution, input_empty\n"
        "500-530 load: barrier hand-over and wake-up, input_empty\n"
        "530-540 load: TMA issue\n"
        "540-800 tma load: TMA transfer, input_full\n"
        "800-820 mma: barrier hand-over and wake-up, input_full\n"
        "820-822 mma: MMA issue\n"
        "822-900 umma: UMMA execution, input_empty\n"
        "900-930 load: barrier hand-over and wake-up, input_empty\n"
        "930-950 load: other role code\n");
  CHECK(path.begin == 0);
  CHECK(path.end == 950);
  CHECK(path.ticks(Dependency::tma_load) == 275 + 260);
  uint64_t sum = 0;
  for (const PathShare& share : path.shares) sum += share.ticks;
  CHECK(sum == 950);
  CHECK(path.shares[0].pipeline == "input_full");
  CHECK_THAT(path.verdict,
             Catch::StartsWith("one stage: TMA and MMA take turns: input_empty[0] \u2194 input_full[0]; "));
}

TEST_CASE("an MMA that finds the pipe busy comes after the one before", "[critical-path]") {
  Rounds rounds;
  // Issued at 822 too, begins when the pipe is free.
  rounds.recorder.span({.begin = 822, .end = 828, .track = rounds.mma, .kind = SpanKind::mma_issue, .flow_out = 9});
  rounds.recorder.span(
      {.begin = 880, .end = 960, .track = rounds.umma, .kind = SpanKind::umma, .flow_in = 9, .flow_out = 10});
  rounds.completes(rounds.full, 2, 965, rounds.umma, 10);
  rounds.waits(rounds.mma, rounds.full, rounds.input_full, 2, 830, 970, 10);
  const Trace& trace = rounds.recorder.trace();
  const std::string path = text(trace, critical_path(trace));
  CHECK_THAT(path, Catch::EndsWith("820-822 mma: MMA issue\n"
                                   "822-880 umma: UMMA execution, input_empty\n"
                                   "880-960 umma: UMMA execution\n"
                                   "960-970 mma: barrier hand-over and wake-up, input_full\n"));
}

TEST_CASE("an arrival from another CTA goes on there, at the time at which it was issued", "[critical-path]") {
  Rounds rounds;
  Recorder& r = rounds.recorder;
  const TrackId cta = r.add_track(TrackKind::cta, "CTA 1", rounds.gpu, 4, 1);
  const TrackId peer = r.add_track(TrackKind::role, "epilogue", cta, 4, 1, 0);
  r.span({.begin = 100, .end = 990, .track = peer, .kind = SpanKind::tmem_load});
  r.barrier({.time = 1000,
             .track = rounds.full,
             .kind = BarrierEventKind::phase_complete,
             .phase = 2,
             .by = peer,
             .delay = 120});
  rounds.waits(rounds.mma, rounds.full, rounds.input_full, 2, 830, 1010, 0);
  CHECK(text(r.trace(), critical_path(r.trace())) ==
        "0-100 epilogue: launch, setup\n"
        "100-880 epilogue: TMEM load\n"
        "880-1010 mma: barrier hand-over and wake-up, input_full\n");
}

TEST_CASE("a CTA that follows another on its SM starts with the end of that", "[critical-path]") {
  Rounds rounds;
  Recorder& r = rounds.recorder;
  const TrackId elsewhere = r.add_track(TrackKind::cta, "CTA 1", rounds.gpu, 4, 1);
  const TrackId other = r.add_track(TrackKind::role, "mma", elsewhere, 4, 1, 0);
  const TrackId next = r.add_track(TrackKind::cta, "CTA 2", rounds.gpu, 3, 2);
  const TrackId role = r.add_track(TrackKind::role, "mma", next, 3, 2, 0);
  r.span({.begin = 100, .end = 1150, .track = other, .kind = SpanKind::tile});
  r.span({.begin = 1200, .end = 1300, .track = role, .kind = SpanKind::mma_issue});
  const std::string path = text(r.trace(), critical_path(r.trace()));
  CHECK_THAT(path, Catch::EndsWith("930-950 load: other role code\n"
                                   "950-1200 mma: launch, setup\n"
                                   "1200-1300 mma: MMA issue\n"));
}

TEST_CASE("a trace that cannot have a critical path says what it lacks", "[critical-path]") {
  Trace trace = Rounds{}.recorder.trace();
  Trace hardware = trace;
  hardware.barrier_events.clear();
  hardware.metadata.source = "hardware";
  CHECK(error_of(hardware) ==
        "no critical path: the trace has no barrier events, so nothing says who ended which wait; hardware and "
        "imported "
        "timelines never have them");
  Trace old = trace;
  old.metadata.schema_version = 2;
  for (BarrierEvent& event : old.barrier_events) event.by = kNoTrack;
  CHECK(error_of(old) ==
        "no critical path: barrier events of schema version 2 do not say who caused them; record the run again "
        "(version 3)");
  Trace empty = trace;
  empty.spans.clear();
  CHECK(error_of(empty) == "no critical path: the trace has no spans of roles");
  CHECK(error_of(trace) == "");
}

TEST_CASE("a link that leads nowhere leaves the rest of the path unknown, not the sums wrong", "[critical-path]") {
  Trace trace = Rounds{}.recorder.trace();
  for (Span& span : trace.spans)
    if (span.kind == SpanKind::tma_load) span.flow_in = 0;
  const CriticalPath path = critical_path(trace);
  CHECK(path.segments.front().kind == Dependency::unknown);
  CHECK(path.segments.front().begin == 0);
  CHECK(path.segments.front().end == 540);
  CHECK(path.ticks() == 950);
}

TEST_CASE("the report lists what the path is made of, then its last steps", "[critical-path]") {
  const Rounds rounds;
  const Trace& trace = rounds.recorder.trace();
  CHECK(format_critical_path(trace, critical_path(trace), 2) ==
        R"(critical path: 950 cycles in 15 segments

dependency                         cycles   share  by
TMA transfer                          535   56.3%  tma load: input_full 56.3%
UMMA execution                        148   15.6%  umma: input_empty 15.6%
launch, setup                         120   12.6%  load 12.6%
barrier hand-over and wake-up         100   10.5%  load: input_empty 6.3%, mma: input_full 4.2%
other role code                        20    2.1%  load 2.1%
TMA issue                              15    1.6%  load 1.6%
MMA issue                              12    1.3%  mma 1.3%

one stage: TMA and MMA take turns: input_empty[0] ↔ input_full[0]; 56 % of the path are TMA transfers, 16 % UMMA execution, and neither overlaps the other

      from          to    cycles  on                            what
       900         930        30  CTA 0 load (warp 0)           barrier hand-over and wake-up, input_empty[0]
       930         950        20  CTA 0 load (warp 0)           other role code (drain)
)");
}
