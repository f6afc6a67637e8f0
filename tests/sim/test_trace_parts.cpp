// SPDX-License-Identifier: Apache-2.0
// Traces of parts of a run, compressed traces, and traces through pipes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "traces/format/pftrace.h"

namespace sm100::sim {
namespace {

using traces::read_pftrace;
using traces::Span;
using traces::Trace;

/// A span without the numbers that a part counts anew.
using Place = std::tuple<int, int, std::string, uint64_t, uint64_t, traces::SpanKind>;

std::vector<Place> places(const Trace& trace, const std::function<bool(const Span&, int sm)>& wanted) {
  std::vector<Place> all;
  for (const Span& span : trace.spans) {
    const traces::Track& track = trace.tracks[span.track];
    if (wanted(span, track.sm)) all.emplace_back(track.sm, track.warp, track.name, span.begin, span.end, span.kind);
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("a part of a trace has what the whole one has there", "[traces]") {
  ScratchDirectory scratch;
  const std::string command = "run more_tiles_than_sms --data none --trace ";
  REQUIRE(run(scratch, command + "whole.pftrace").exit_code == 0);
  const Trace whole = read_pftrace(scratch / "whole.pftrace");
  const auto everything = [](const Span&, int) { return true; };

  const Ran by_sm = run(scratch, command + "sm.pftrace --trace-sms 0,2");
  CHECK(by_sm.exit_code == 0);
  CHECK(by_sm.err == "");
  const Trace sms = read_pftrace(scratch / "sm.pftrace");
  CHECK(sms.metadata.part == "SMs 0, 2");
  CHECK(sms.metadata.run_ticks == whole.metadata.run_ticks);
  CHECK(places(sms, everything) == places(whole, [](const Span&, int sm) { return sm == 0 || sm == 2; }));
  CHECK(std::filesystem::file_size(scratch / "sm.pftrace") < std::filesystem::file_size(scratch / "whole.pftrace"));

  REQUIRE(run(scratch, command + "window.pftrace --trace-window 5000:6000").exit_code == 0);
  const Trace window = read_pftrace(scratch / "window.pftrace");
  CHECK(window.metadata.part == "cycles 5,000 to 6,000");
  CHECK(places(window, everything) ==
        places(whole, [](const Span& s, int) { return s.begin <= 6000 && s.end >= 5000; }));
  CHECK(window.spans.size() < whole.spans.size());

  // Every reader says that it is a part, or refuses it.
  CHECK_THAT(run(scratch, "stats window.pftrace").out,
             Catch::Contains("\nPART of the run: cycles 5,000 to 6,000;"));
  const Ran path = run(scratch, "stats window.pftrace --critical-path");
  CHECK(path.exit_code == 2);
  CHECK_THAT(path.err, Catch::Contains("a part of the run (cycles 5,000 to 6,000)"));
  CHECK_THAT(run(scratch, "diff window.pftrace whole.pftrace").out,
             Catch::Contains("note: A holds a part of its run only (cycles 5,000 to 6,000)"));
  for (const char* format : {"html", "csv", "chrome-json", "vcd"})
    CHECK(run(scratch, fmt::format("export window.pftrace --format {} -o out", format)).exit_code == 0);
}

TEST_CASE("a part in which nothing happens is written, with a warning", "[traces]") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "run single_k_step --data none --trace t.pftrace --trace-window 1000000:2000000");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.err, Catch::StartsWith(
                          "warning: --trace: nothing happened in cycles 1,000,000 to 2,000,000; the run has "));
  CHECK(read_pftrace(scratch / "t.pftrace").spans.empty());
}

TEST_CASE("recording a part does not change the run", "[traces]") {
  ScratchDirectory scratch;
  REQUIRE(run(scratch, "run pairs --json a.json").exit_code == 0);
  REQUIRE(run(scratch, "run pairs --json b.json --trace t.pftrace --trace-sms 0 --trace-window :4000").exit_code ==
          0);
  const auto before_host = [&](const char* file) {
    const std::string text = read_whole(scratch / file);
    return text.substr(0, text.find("\"host\""));
  };
  CHECK(before_host("a.json") == before_host("b.json"));
}

TEST_CASE("compressed traces are traces wherever one is taken", "[traces]") {
  ScratchDirectory scratch;
  const std::string command = "run single_k_step --data none --trace ";
  REQUIRE(run(scratch, command + "t.pftrace").exit_code == 0);
  REQUIRE(run(scratch, command + "t.pftrace.gz").exit_code == 0);
  CHECK(read_whole(scratch / "t.pftrace.gz").substr(0, 2) == "\x1f\x8b");
  CHECK(read_pftrace(scratch / "t.pftrace.gz") == read_pftrace(scratch / "t.pftrace"));
  CHECK(run(scratch, "stats t.pftrace.gz").out == run(scratch, "stats t.pftrace").out);
  CHECK(run(scratch, "diff t.pftrace.gz t.pftrace").exit_code == 0);
  REQUIRE(run(scratch, "export t.pftrace.gz --format chrome-json -o t.json.gz").exit_code == 0);
  REQUIRE(run(scratch, "export t.pftrace --format chrome-json -o t.json").exit_code == 0);
  CHECK(read_whole(scratch / "t.json.gz").size() < read_whole(scratch / "t.json").size());
  const std::string map = source_dir() + "/traces/maps/sm100sim_chrome.toml";
  REQUIRE(run(scratch, "import t.json.gz --map " + map + " -o a.pftrace").exit_code == 0);
  REQUIRE(run(scratch, "import t.json --map " + map + " -o b.pftrace").exit_code == 0);
  CHECK(read_whole(scratch / "a.pftrace") == read_whole(scratch / "b.pftrace"));
  REQUIRE(run(scratch, "import - --map " + map + " -o c.pftrace < t.json.gz || exit 9;").exit_code == 0);
  CHECK(read_whole(scratch / "a.pftrace") == read_whole(scratch / "c.pftrace"));
}

TEST_CASE("traces go through pipes", "[traces]") {
  ScratchDirectory scratch;
  const std::string program = " | '" + sm100sim_binary() + "' ";
  REQUIRE(run(scratch, "run single_k_step --data none --trace t.pftrace").exit_code == 0);
  const Ran piped = run(scratch, "run single_k_step --data none --trace - 2> summary" + program + "stats -");
  CHECK(piped.exit_code == 0);
  CHECK(piped.out == run(scratch, "stats t.pftrace").out);
  CHECK_THAT(read_whole(scratch / "summary"), Catch::StartsWith("PASS, incomplete  single_k_step: "));

  const std::string map = source_dir() + "/traces/maps/sm100sim_chrome.toml";
  const Ran there = run(scratch, "export t.pftrace --format chrome-json -o -" + program + "import - --map " + map +
                                     " -o -" + program + "stats - --json -");
  CHECK(there.exit_code == 0);
  CHECK_THAT(there.out, Catch::Contains("\"trace\": \"-\""));
  CHECK(run(scratch, "export t.pftrace --format csv -o - 2> err > /dev/full || exit $?;").exit_code == 2);
  CHECK_THAT(read_whole(scratch / "err"), Catch::Contains("-o: cannot write to standard output"));
}

TEST_CASE("import: a hung kernel's timeline comes in, and says where it hangs", "[import]") {
  ScratchDirectory scratch;
  scratch.write(
      "map.toml",
      "source = \"hardware\"\nticks_per_second = 1e9\ntime_unit = \"ns\"\n[track]\ncta = \"pid\"\nwarp = \"tid\"\n"
      "[[role]]\nname = \"mma\"\n[[event]]\nname = \"WAIT\"\nkind = \"wait\"\npipeline = \"input_full\"\nstage = "
      "\"2\"\n");
  scratch.write("hung.json", R"([{"ph": "B", "name": "WAIT", "pid": 0, "tid": 6, "ts": 100},
                                {"ph": "X", "name": "WAIT", "pid": 1, "tid": 6, "ts": 200, "dur": 50}])");
  const Ran ran = run(scratch, "import hung.json --map map.toml -o hung.pftrace");
  CHECK(ran.exit_code == 0);
  CHECK(
      ran.out ==
      "hung.pftrace: 2 spans of 2 roles in 2 CTAs\n"
      "  mma (warp 6) of CTA 0 waits for input_full[2] since 100; the timeline ends without an end of this wait\n");
  const Trace trace = read_pftrace(scratch / "hung.pftrace");
  REQUIRE(trace.findings.size() == 1);
  CHECK(trace.findings[0].id == "hang");
}

}  // namespace sm100::sim
