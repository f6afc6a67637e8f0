// SPDX-License-Identifier: Apache-2.0
// One run has one length: summary, JSON, trace, statistics, critical path and page.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "sim/text.h"
#include "traces/analysis/critical_path.h"
#include "traces/format/pftrace.h"

namespace sm100::sim {
namespace {

using nlohmann::json;

uint64_t last_event(const traces::Trace& trace) {
  uint64_t last = 0;
  for (const traces::Span& span : trace.spans) last = std::max(last, span.end);
  for (const traces::BarrierEvent& event : trace.barrier_events) last = std::max(last, event.time);
  return last;
}

}  // namespace

TEST_CASE("one run has one length, from the launch until the last store is visible", "[run-length]") {
  const std::string scenario = GENERATE(as<std::string>{}, "05_single_k_step", "13_pairs", "18_dependent_launch",
                                        "copy/narrow", "direct/v5", "21_fallback");
  CAPTURE(scenario);
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "run " + scenario + " --data none --trace t.pftrace --json j.json");
  REQUIRE(ran.exit_code == 0);
  const uint64_t cycles = json::parse(read_whole(scratch / "j.json"))["cycles"];
  const std::string text = grouped(int64_t(cycles));
  CHECK_THAT(ran.out, Catch::Contains(fmt::format("  time         {} cycles = ", text)));

  const traces::Trace trace = traces::read_pftrace(scratch / "t.pftrace");
  CHECK(trace.metadata.run_ticks == cycles);
  CHECK(traces::run_length(trace) == cycles);
  CHECK(last_event(trace) <= cycles);
  CHECK_THAT(run(scratch, "stats t.pftrace").out, Catch::StartsWith(text + " cycles ("));
  const traces::CriticalPath path = traces::critical_path(trace);
  CHECK(path.begin == 0);
  CHECK(path.end == cycles);
  CHECK_THAT(run(scratch, "stats t.pftrace --critical-path").out,
             Catch::StartsWith(fmt::format("critical path: {} cycles in ", text)));
  CHECK(json::parse(run(scratch, "stats t.pftrace --json -").out)["run_ticks"] == cycles);

  // Chrome JSON keeps it, and so does what comes back from there.
  REQUIRE(run(scratch, "export t.pftrace --format chrome-json -o t.json").exit_code == 0);
  CHECK(json::parse(read_whole(scratch / "t.json"))["otherData"]["run_ticks"] == cycles);
}

TEST_CASE("a run that hangs is as long as its report says", "[run-length]") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "run bugs/phases/load_initial_parity --trace t.pftrace");
  REQUIRE(ran.exit_code == 3);
  const uint64_t cycles = traces::read_pftrace(scratch / "t.pftrace").metadata.run_ticks;
  CHECK_THAT(ran.out, Catch::StartsWith(fmt::format("HANG at cycle {}:", grouped(int64_t(cycles)))));
  CHECK_THAT(run(scratch, "stats t.pftrace").out, Catch::StartsWith(grouped(int64_t(cycles)) + " cycles ("));
}

TEST_CASE("diff of two simulations compares the lengths of the runs", "[run-length][diff]") {
  ScratchDirectory scratch;
  REQUIRE(run(scratch, "run one_stage --data none --trace a.pftrace --json a.json").exit_code == 0);
  REQUIRE(
      run(scratch, "run one_stage --data none --set config.stages=4 --trace b.pftrace --json b.json").exit_code ==
      0);
  const json diff = json::parse(run(scratch, "diff a.pftrace b.pftrace --json -").out);
  const json a = json::parse(read_whole(scratch / "a.json"));
  CHECK(diff["span_a_ns"].get<double>() == Approx(a["microseconds"].get<double>() * 1000));
}

}  // namespace sm100::sim
