// SPDX-License-Identifier: Apache-2.0
// sm100sim stats --critical-path on runs of the project's scenarios.

#include "paths.h"
#include "traces/analysis/critical_path.h"

#include "catch.h"
#include "sim/program.h"
#include "traces/format/pftrace.h"

namespace sm100::sim {
namespace {

using namespace traces;

/// Runs a scenario without data and with a trace in the scratch directory.
void record(const ScratchDirectory& scratch, const std::string& scenario, int exit_code = 0) {
  const Ran ran = run(scratch, "run " + scenario_dir() + "/" + scenario + ".toml --data none --trace run.pftrace");
  CAPTURE(ran.out, ran.err);
  REQUIRE(ran.exit_code == exit_code);
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
}

}  // namespace

TEST_CASE("the critical path says what limits a run: one stage, TMA, the epilogue, the tensor core",
          "[critical-path]") {
  struct Answer {
    const char *scenario, *says;
    Dependency most;
  };
  for (const Answer& a :
       {Answer{"02_one_stage", "one stage: TMA and MMA take turns: input_empty[0] \u2194 input_full[0]; ",
               Dependency::tma_load},
        Answer{"06_starved_by_tma", "bound by TMA: the mma role waits for input_full, ", Dependency::tma_load},
        Answer{"07_blocked_by_epilogue", "bound by the epilogue: the mma role waits for accum_empty, ",
               Dependency::tma_store},
        Answer{"10_m64", "bound by the tensor core: ", Dependency::umma},
        Answer{"copy/chip_hbm", "bound by TMA stores: ", Dependency::tma_store},
        Answer{"copy/one_stage",
               "one stage: TMA and the consumer role take turns: input_empty[0] \u2194 input_full[0]; ",
               Dependency::tma_load}}) {
    CAPTURE(a.scenario);
    ScratchDirectory scratch;
    record(scratch, a.scenario);
    const Ran ran = run(scratch, "stats run.pftrace --critical-path");
    CHECK(ran.err == "");
    CHECK(ran.exit_code == 0);
    CHECK_THAT(last_line(ran.out), Catch::StartsWith(a.says));
    CHECK(critical_path(read_pftrace(scratch / "run.pftrace")).shares.front().kind == a.most);
  }
}

TEST_CASE("the path of a run that broke off knows the waits that nobody ended", "[critical-path]") {
  ScratchDirectory scratch;
  record(scratch, "bugs/arrivals/release_missing", 3);
  const CriticalPath hang = critical_path(read_pftrace(scratch / "run.pftrace"));
  CHECK(hang.segments.back().kind == Dependency::open_wait);
  CHECK_THAT(hang.verdict, Catch::StartsWith("the run hangs"));

  record(scratch, "bugs/addresses/commit_misaligned", 4);
  const Ran ran = run(scratch, "stats run.pftrace --critical-path");
  CHECK_THAT(last_line(ran.out), Catch::StartsWith("the run broke off with MB3; until there: "));
}

TEST_CASE("every path covers its run without gap or overlap and knows where it comes from", "[critical-path]") {
  for (const std::string scenario :
       {"01_dense_small", "13_pairs", "08_more_tiles_than_sms", "smoke/smoke_05", "copy/multicast_4",
        "split_k/splits_2_m128", "21_fallback", "direct/v5", "18_dependent_launch", "15_fused_epilogue_smem",
        "09_static_scheduler", "bugs/bytes/expect_tx_too_large"}) {
    CAPTURE(scenario);
    ScratchDirectory scratch;
    record(scratch, scenario, scenario.find("bugs/") == 0 ? 3 : 0);
    const Trace trace = read_pftrace(scratch / "run.pftrace");
    const CriticalPath path = critical_path(trace);
    REQUIRE_FALSE(path.segments.empty());
    uint64_t at = 0, sum = 0;
    for (const PathSegment& segment : path.segments) {
      CHECK(segment.begin == at);
      CHECK(segment.end > segment.begin);
      CHECK(segment.kind != Dependency::unknown);
      at = segment.end;
    }
    uint64_t last = run_length(trace);  // of a run that broke off, the end of the last role
    if (scenario.find("bugs/") == 0) {
      last = 0;
      for (const Span& span : trace.spans)
        if (trace.tracks[span.track].kind == TrackKind::role) last = std::max(last, span.end);
    }
    CHECK(at == last);
    CHECK(path.end == last);
    for (const PathShare& share : path.shares) sum += share.ticks;
    CHECK(sum == last);
  }
}

TEST_CASE("stats --critical-path on a trace that lacks it is bad input, in one line", "[critical-path]") {
  ScratchDirectory scratch;
  record(scratch, "05_single_k_step");
  Trace trace = read_pftrace(scratch / "run.pftrace");
  trace.barrier_events.clear();
  trace.metadata.source = "hardware";
  write_pftrace(trace, scratch / "hardware.pftrace");
  const Ran ran = run(scratch, "stats hardware.pftrace --critical-path");
  CHECK(ran.exit_code == 2);
  CHECK(ran.out == "");
  CHECK(
      ran.err ==
      "hardware.pftrace: no critical path: the trace has no barrier events, so nothing says who ended which wait; "
      "hardware and imported timelines never have them\n");
  const Ran steps = run(scratch, "stats run.pftrace --steps 3");
  CHECK(steps.exit_code == 2);
  CHECK(steps.err.find("--critical-path") != std::string::npos);
}

}  // namespace sm100::sim
