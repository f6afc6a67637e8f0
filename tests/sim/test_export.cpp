// SPDX-License-Identifier: Apache-2.0
// sm100sim export of a run as a user calls it; vcd against a reader of GTKWave's where that is installed.

#include <cstdlib>
#include <map>
#include <sstream>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "traces/format/pftrace.h"

namespace sm100::sim {
namespace {

using namespace traces;

/// What each barrier shows over time: (tick, value) by "CTA_0.input_full.stage_2.phase".
using Waves = std::map<std::string, std::vector<std::pair<uint64_t, int64_t>>>;

/// The values that are numbers, read from a VCD as the standard defines it.
Waves read_vcd(const std::string& text) {
  Waves waves;
  std::map<std::string, std::string> names;
  std::vector<std::string> scope;
  std::istringstream words(text);
  uint64_t time = 0;
  for (std::string word; words >> word;) {
    const auto next = [&] {
      std::string value;
      words >> value;
      return value;
    };
    const auto skip = [&] {
      while (next() != "$end" && words) {}
    };
    if (word == "$scope") {
      next(), scope.push_back(next()), skip();
    } else if (word == "$upscope") {
      scope.pop_back(), skip();
    } else if (word == "$var") {
      next(), next();
      const std::string id = next();
      std::string name;
      for (size_t i = 1; i < scope.size(); ++i) name += scope[i] + ".";
      names[id] = name + next();
      skip();
    } else if (word == "$dumpvars" || word == "$end") {
    } else if (word[0] == '$') {
      skip();
    } else if (word[0] == '#') {
      time = std::stoull(word.substr(1));
    } else {
      const bool vector = word[0] == 'b';
      const std::string bits = vector ? word.substr(1) : word.substr(0, 1);
      const std::string& name = names.at(vector ? next() : word.substr(1));
      if (bits.find('x') != std::string::npos) continue;
      waves[name].push_back({time, int32_t(uint32_t(std::stoull(bits, nullptr, 2)))});
    }
  }
  CHECK(scope.empty());
  return waves;
}

/// The same from the trace: the value at the end of each tick, where it differs from the one before.
Waves waves_of(const Trace& trace, int sm) {
  Waves waves;
  const auto shows = [&](const std::string& name, uint64_t time, int64_t value) {
    auto& wave = waves[name];
    if (!wave.empty() && wave.back().first == time) wave.pop_back();
    if (wave.empty() || wave.back().second != value) wave.push_back({time, value});
  };
  for (const BarrierEvent& event : trace.barrier_events) {
    const Track& track = trace.tracks[event.track];
    if (track.sm != sm || event.kind == BarrierEventKind::wait_begin || event.kind == BarrierEventKind::wait_end)
      continue;
    const size_t bracket = track.name.find('[');
    const std::string barrier = "CTA_" + std::to_string(track.cta) + "." + track.name.substr(0, bracket) +
                                ".stage_" + track.name.substr(bracket + 1, track.name.size() - bracket - 2) + ".";
    const int64_t phase = event.phase + (event.kind == BarrierEventKind::phase_complete ? 1 : 0);
    shows(barrier + "phase", event.time, phase);
    shows(barrier + "parity", event.time, phase % 2);
    shows(barrier + "pending", event.time, event.pending);
    shows(barrier + "tx_bytes", event.time, event.tx);
  }
  return waves;
}

void record(const ScratchDirectory& scratch, const std::string& scenario) {
  REQUIRE(
      run(scratch, "run " + scenario_dir() + "/" + scenario + ".toml --data none --trace run.pftrace").exit_code ==
      0);
}

}  // namespace

TEST_CASE("vcd: every phase, count and byte total of the SM's barriers is the trace's", "[export]") {
  ScratchDirectory scratch;
  record(scratch, "08_more_tiles_than_sms");
  const Ran ran = run(scratch, "export run.pftrace --format vcd -o a.vcd");
  CHECK(ran.err == "");
  REQUIRE(ran.exit_code == 0);
  const Trace trace = read_pftrace(scratch / "run.pftrace");
  const std::string text = read_whole(scratch / "a.vcd");
  CHECK_THAT(text, Catch::Contains("$timescale 1 ns $end") && Catch::Contains("1 ns is 1 SM cycle"));
  const Waves waves = read_vcd(text);
  CHECK(waves == waves_of(trace, 0));
  const auto& phases = waves.at("CTA_0.input_full.stage_0.phase");
  CHECK(phases.size() > 10);

  REQUIRE(run(scratch, "export run.pftrace --format vcd --sm 1 -o b.vcd").exit_code == 0);
  CHECK(read_vcd(read_whole(scratch / "b.vcd")) == waves_of(trace, 1));
}

TEST_CASE("vcd: GTKWave's reader takes the file and finds the same", "[export]") {
  if (std::system("command -v vcd2fst > /dev/null && command -v fst2vcd > /dev/null") != 0)
    SM100_SKIP("vcd2fst is not installed (Debian package gtkwave)");
  ScratchDirectory scratch;
  record(scratch, "13_pairs");
  REQUIRE(run(scratch, "export run.pftrace --format vcd --sm 1 -o a.vcd").exit_code == 0);
  const std::string where = scratch.path().string();
  REQUIRE(std::system(("vcd2fst " + where + "/a.vcd " + where + "/a.fst > " + where + "/log 2>&1").c_str()) == 0);
  CHECK(read_whole(scratch / "log") == "");
  REQUIRE(std::system(("fst2vcd " + where + "/a.fst > " + where + "/b.vcd").c_str()) == 0);
  CHECK(read_vcd(read_whole(scratch / "b.vcd")) == waves_of(read_pftrace(scratch / "run.pftrace"), 1));
}

TEST_CASE("export refuses what it cannot write in one line", "[export]") {
  ScratchDirectory scratch;
  record(scratch, "05_single_k_step");
  const auto refused = [&](const std::string& arguments, const std::string& line) {
    const Ran ran = run(scratch, "export " + arguments);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out == "");
    CHECK(ran.err == line + "\n");
    CHECK_FALSE(std::filesystem::exists(scratch / "x"));
  };
  refused("run.pftrace --format vcd --sm 7 -o x", "--sm 7: no CTA of run.pftrace ran there; allowed are 0, 1");
  refused("run.pftrace --format csv --sm 0 -o x", "--sm: goes with --format vcd, the others hold all SMs");
  refused("run.pftrace --format xml -o x", "--format xml: allowed are chrome-json, vcd, csv and html");
  refused("run.pftrace run.pftrace --format csv -o x", "--format csv takes one trace; html shows two side by side");
  Trace trace = read_pftrace(scratch / "run.pftrace");
  trace.barrier_events.clear();
  std::erase_if(trace.tracks, [](const Track& track) { return track.kind == TrackKind::barrier; });
  trace.spans.clear(), trace.wakeups.clear();
  for (size_t i = 0; i < trace.tracks.size(); ++i) {
    trace.tracks[i].id = TrackId(i);
    trace.tracks[i].parent = kNoTrack;
  }
  write_pftrace(trace, scratch / "hardware.pftrace");
  refused("hardware.pftrace --format vcd -o x",
          "hardware.pftrace: --format vcd: the trace has no barriers; only simulated runs have them, hardware and "
          "imported "
          "timelines do not");
}

TEST_CASE("html: a page of one trace, and of two", "[export]") {
  ScratchDirectory scratch;
  record(scratch, "05_single_k_step");
  for (const char* traces : {"run.pftrace", "run.pftrace run.pftrace"}) {
    const Ran ran = run(scratch, std::string("export ") + traces + " --format html -o page.html");
    CAPTURE(traces, ran.err);
    CHECK(ran.exit_code == 0);
    const std::string page = read_whole(scratch / "page.html");
    const bool two = std::string(traces) != "run.pftrace";
    CHECK(page.find("id=\"trace-a\"") != std::string::npos);
    CHECK((page.find("id=\"trace-b\"") != std::string::npos) == two);
    CHECK((page.find("id=\"diff\"") != std::string::npos) == two);
  }
}

TEST_CASE("csv: as many rows as spans", "[export]") {
  ScratchDirectory scratch;
  record(scratch, "13_pairs");
  REQUIRE(run(scratch, "export run.pftrace --format csv -o a.csv").exit_code == 0);
  const std::string text = read_whole(scratch / "a.csv");
  CHECK(size_t(std::count(text.begin(), text.end(), '\n')) ==
        read_pftrace(scratch / "run.pftrace").spans.size() + 1);
}

}  // namespace sm100::sim
