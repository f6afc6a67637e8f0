// SPDX-License-Identifier: Apache-2.0
// sm100sim import: mistakes in a map, our own Chrome JSON there and back, and a timeline measured on B200.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "traces/analysis/cta_life.h"
#include "traces/format/pftrace.h"

namespace sm100::sim {
namespace {

using traces::Span;
using traces::SpanKind;
using traces::Trace;
using traces::Track;
using traces::TrackKind;

const std::string kMaps = source_dir() + "/traces/maps/";

// ---------------------------------------------------------------- mistakes in a map

const std::string kMap = R"(source = "hardware"
ticks_per_second = 1e9
time_unit = "ns"
ignore = ["noise"]
[track]
cta = "pid"
[[role]]
name = "load"
[args]
k = "i"
[[event]]
name = "LOAD"
kind = "load_issue"
)";

/// The map with one text replaced, and the one line that import says to it, from the file's name on.
std::string map_error(const std::string& from, const std::string& to) {
  ScratchDirectory scratch;
  scratch.write("t.json", R"([{"ph": "X", "name": "LOAD", "pid": 0, "tid": 0, "ts": 0, "dur": 1}])");
  std::string text = kMap;
  scratch.write("map.toml", text.replace(text.find(from), from.size(), to));
  const Ran ran = run(scratch, "import t.json --map map.toml -o out.pftrace");
  CHECK(scratch.files() == (ran.exit_code == 0 ? 3 : 2));
  CHECK(ran.exit_code == (ran.err.empty() ? 0 : 2));
  return ran.err;
}

// ---------------------------------------------------------------- there and back

/// A role span without indices, so that two traces can be compared.
struct RoleSpan {
  std::string role, pipeline;
  int sm, cta, warp;
  Span span;
  bool operator==(const RoleSpan&) const = default;
};

std::vector<RoleSpan> role_spans(const Trace& trace) {
  std::vector<RoleSpan> spans;
  for (Span span : trace.spans) {
    const Track& track = trace.tracks[span.track];
    if (track.kind != TrackKind::role) continue;
    const std::string pipeline = span.args.pipeline == traces::kNoName ? "" : trace.names[span.args.pipeline];
    span.args.pipeline = traces::kNoName;
    span.track = traces::kNoTrack;
    span.flow_in = span.flow_out = 0;
    spans.push_back({track.name, pipeline, track.sm, track.cta, track.warp, span});
  }
  std::sort(spans.begin(), spans.end(), [](const RoleSpan& a, const RoleSpan& b) {
    return std::tie(a.cta, a.warp, a.role, a.span.sequence) < std::tie(b.cta, b.warp, b.role, b.span.sequence);
  });
  return spans;
}

// ---------------------------------------------------------------- the measured timeline

/// By nearest rank, as `stats` has it.
struct Summary {
  size_t count;
  uint64_t p10, median, p90, max;
  bool operator==(const Summary&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Summary& s) {
  return out << s.count << ": " << s.p10 << " " << s.median << " " << s.p90 << " " << s.max;
}

Summary summary(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  const auto rank = [&](size_t hundredths) { return values.at((values.size() * hundredths + 99) / 100 - 1); };
  return {values.size(), rank(10), rank(50), rank(90), values.back()};
}

/// matmul_v5 as imported, with its CTAs' place in time.
struct Measured {
  Trace trace;
  struct Cta {
    int sm = -1, wave = -1;
    uint64_t begin = UINT64_MAX, end = 0;
  };
  std::map<int, Cta> ctas;
  std::map<int, std::vector<int>> ctas_of_sm;  ///< in order of time

  explicit Measured(Trace t) : trace(std::move(t)) {
    for (const Span& span : trace.spans) {
      const Track& at = trace.tracks[span.track];
      Cta& cta = ctas[at.cta];
      cta.sm = at.sm;
      cta.begin = std::min(cta.begin, span.begin);
      cta.end = std::max(cta.end, span.end);
    }
    for (const auto& [id, cta] : ctas) ctas_of_sm[cta.sm].push_back(id);
    for (auto& [sm, ids] : ctas_of_sm) {
      std::sort(ids.begin(), ids.end(), [&](int a, int b) { return ctas[a].begin < ctas[b].begin; });
      for (size_t wave = 0; wave < ids.size(); ++wave) ctas[ids[wave]].wave = int(wave);
    }
  }

  const Track& track(const Span& span) const { return trace.tracks[span.track]; }
  std::string pipeline(const Span& span) const {
    return span.args.pipeline == traces::kNoName ? "" : trace.names[span.args.pipeline];
  }

  Summary durations(SpanKind kind, const std::string& of_pipeline,
                    const std::function<bool(const Span&, const Track&)>& selected = {}) const {
    std::vector<uint64_t> values;
    for (const Span& span : trace.spans)
      if (span.kind == kind && pipeline(span) == of_pipeline && (!selected || selected(span, track(span))))
        values.push_back(span.end - span.begin);
    return summary(values);
  }
};

}  // namespace

TEST_CASE("import: a wrong map ends in one line", "[import]") {
  CHECK(map_error("noise", "dust").empty());
  CHECK(map_error("kind = \"load_issue\"", "kind = \"load\"") ==
        "map.toml:13: key 'event.0.kind' = \"load\": allowed are \"wait\", \"load_issue\", \"mma_issue\", "
        "\"mma_commit\", \"tmem_load\", \"smem_read\", \"smem_write\", \"store_issue\", \"store_wait\", "
        "\"lock_wait\", \"reduce\", "
        "\"clc_request\", "
        "\"clc_fetch\", \"tile\", \"setup\", \"drain\", \"map_edit\"\n");
  CHECK(map_error("cta = \"pid\"", "cta = \"pdi / 4\"") ==
        "map.toml:6: key 'track.cta' = \"pdi / 4\": column 1: unknown variable 'pdi'; allowed are pid, tid, "
        "thread\n");
  CHECK(map_error("k = \"i\"", "k = 7") == "map.toml:10: key 'args.k' = 7: allowed are strings in quotes\n");
  CHECK(map_error("k = \"i\"", "kk = \"i\"") ==
        "map.toml:10: unknown key 'args.kk' = \"i\"; allowed here are stage, phase, tile_m, tile_n, tile_k, k, "
        "bytes, "
        "sequence\n");
  CHECK(map_error("cta = \"pid\"", "sm = \"pid\"") ==
        "map.toml:5: table 'track': must have 'cta', an expression, or {cta} in a name's pattern\n");
  CHECK(map_error("cta = \"pid\"", "process_name = \"CTA {ctaid}\"") ==
        "map.toml:6: key 'track.process_name' = \"CTA {ctaid}\": '{ctaid}' is none of {cta}, {sm}, {warp}, {role} "
        "and {}\n");
  CHECK(map_error("[[role]]\nname = \"load\"", "") ==
        "map.toml:5: table 'track': must have {role} in a name's pattern, or the map [[role]] tables\n");
  CHECK(map_error("name = \"load\"", "name = \"load\"\nevents = [\"LAOD\"]") ==
        "map.toml:9: key 'role.0.events' = [\"LAOD\"]: no [[event]] is named \"LAOD\"\n");
  CHECK(map_error("\"noise\"", "\"LOAD\"") ==
        "map.toml:12: key 'event.0.name' = \"LOAD\": is in 'ignore' as well\n");
  CHECK(map_error("[\"noise\"]", "[3]") ==
        "map.toml:4: key 'ignore' = [3]: allowed are lists of strings in quotes\n");
  CHECK(map_error("[[event]]", "[[event]]\nname = \"LOAD\"\nkind = \"tile\"\n[[event]]") ==
        "map.toml:15: key 'event.1.name' = \"LOAD\": another [[event]] has this name\n");
  CHECK(map_error("\"ns\"", "\"ps\"") ==
        "map.toml:3: key 'time_unit' = \"ps\": allowed are \"ns\", \"us\", \"ms\", \"s\"\n");
  CHECK(map_error("1e9", "0") ==
        "map.toml:2: key 'ticks_per_second' = 0: allowed are numbers 1 to 1000000000000\n");
}

TEST_CASE("import: our own Chrome JSON comes back with the same role spans", "[import]") {
  ScratchDirectory scratch;
  const auto [scenario, summary] = GENERATE(table<std::string, std::string>(
      {{"01_dense_small", "b.pftrace: 2,436 spans of 28 roles in 4 CTAs\n"},
       {"copy/multicast_2",
        "b.pftrace: 20,176 spans of 40 roles in 8 CTAs\n"}}));  // two kernels: together they record every kind of
                                                                // role span
  CAPTURE(scenario);
  const std::string file = scenario_dir() + "/" + scenario + ".toml";
  REQUIRE(run(scratch, "run " + file + " --data none --trace a.pftrace").exit_code == 0);
  REQUIRE(run(scratch, "export a.pftrace --format chrome-json -o a.json").exit_code == 0);
  const Ran ran = run(scratch, "import a.json --map " + kMaps + "sm100sim_chrome.toml -o b.pftrace");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  Trace there = traces::read_pftrace(scratch / "a.pftrace");
  Trace back = traces::read_pftrace(scratch / "b.pftrace");
  using nlohmann::json;
  CHECK(json::parse(back.metadata.configuration) == json::parse(there.metadata.configuration));
  back.metadata.configuration = there.metadata.configuration;  // Chrome's copy has its keys in another order
  // Chrome's copy has neither the verdict nor the lines of the roles.
  back.metadata.outcome = there.metadata.outcome, back.metadata.verdict = there.metadata.verdict;
  for (Span& span : there.spans) span.args.line = traces::kNoName;
  CHECK(back.metadata == there.metadata);
  CHECK(role_spans(there).size() > 1000);
  CHECK(role_spans(back) == role_spans(there));
  CHECK(ran.out == summary);
}

TEST_CASE("import: the timeline of matmul_v5 measured on B200", "[import][measured]") {
  const std::filesystem::path file =
      std::filesystem::path(measured_dir()) / "b200" / "b200_trace_matmul_v5.json.gz";
  if (!std::filesystem::exists(file)) {
    if (std::getenv("SM100_REQUIRE_MEASURED")) FAIL("measured data not found: " << file);
    SM100_SKIP("no measured data in \'" << file << "\': see docs/architecture.md section 8");
  }
  ScratchDirectory scratch;
  const Ran ran =
      run(scratch, "import " + file.string() + " --map " + kMaps + "gau_nernst_matmul_v5.toml -o v5.pftrace");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(ran.out == "v5.pftrace: 104,448 spans of 2,048 roles in 512 CTAs\n");
  const Measured v5(traces::read_pftrace(scratch / "v5.pftrace"));
  CHECK(v5.trace.metadata.source == "hardware");
  CHECK(v5.trace.metadata.ticks_per_second == 1e9);

  SECTION("waves: 148 + 148 + 148 + 68 CTAs; 80 SMs run three and 68 run four; 108.16 us in all") {
    uint64_t end = 0;
    std::map<int, int> ctas_in_wave;
    for (const auto& [id, cta] : v5.ctas) {
      ++ctas_in_wave[cta.wave];
      end = std::max(end, cta.end);
    }
    CHECK(end == 108160);
    CHECK(v5.trace.spans.front().begin == 0);
    CHECK(ctas_in_wave == std::map<int, int>{{0, 148}, {1, 148}, {2, 148}, {3, 68}});
    std::map<size_t, int> sms_with;
    std::vector<uint64_t> gaps;
    for (const auto& [sm, ids] : v5.ctas_of_sm) {
      ++sms_with[ids.size()];
      for (size_t i = 1; i < ids.size(); ++i) gaps.push_back(v5.ctas.at(ids[i]).begin - v5.ctas.at(ids[i - 1]).end);
    }
    CHECK(sms_with == std::map<size_t, int>{{3, 80}, {4, 68}});
    CHECK(summary(gaps) == Summary{364, 1152, 1312, 1536, 1856});
    CHECK(*std::min_element(gaps.begin(), gaps.end()) == 928);
  }

  SECTION("tracks: a warp has the role of its main loop") {
    std::map<std::string, int> tracks;
    for (const Track& track : v5.trace.tracks) {
      ++tracks[track.kind == TrackKind::role ? track.name : std::string(name(track.kind))];
      if (track.name == "load") CHECK(track.warp == 0);
      if (track.name == "mma") CHECK(track.warp == 1);
    }
    CHECK(tracks ==
          std::map<std::string, int>{{"gpu", 1}, {"cta", 512}, {"load", 512}, {"mma", 512}, {"epilogue", 1024}});
  }

  SECTION("counts and durations by event") {
    const auto k_from_7 = [](const Span& s, const Track&) { return s.args.k >= 7; };
    const auto first = [&](bool wave_0) {
      return [&v5, wave_0](const Span& s, const Track& t) {
        return s.args.k == 0 && (v5.ctas.at(t.cta).wave == 0) == wave_0;
      };
    };
    CHECK(v5.durations(SpanKind::setup, "") == Summary{2048, 544, 672, 768, 800});
    CHECK(v5.durations(SpanKind::wait, "input_empty", k_from_7) == Summary{29184, 64, 192, 288, 1632});
    CHECK(v5.durations(SpanKind::load_issue, "") == Summary{32768, 32, 32, 64, 64});
    CHECK(v5.durations(SpanKind::wait, "input_full", first(true)) == Summary{74, 1408, 1728, 2176, 2400});
    CHECK(v5.durations(SpanKind::wait, "input_full", first(false)) == Summary{182, 544, 832, 1088, 1280});
    CHECK(v5.durations(SpanKind::wait, "input_full", k_from_7) == Summary{14592, 32, 32, 224, 1056});
    CHECK(v5.durations(SpanKind::mma_issue, "") == Summary{16384, 32, 64, 64, 96});
    const auto warp = [](int warp, int rank) {
      return [=](const Span&, const Track& t) { return t.warp == warp && (rank < 0 || t.cta % 2 == rank); };
    };
    CHECK(v5.durations(SpanKind::wait, "accum_full", warp(0, -1)) == Summary{512, 1888, 1984, 2080, 2144});
    CHECK(v5.durations(SpanKind::wait, "accum_full", warp(1, 0)) == Summary{256, 512, 1088, 1184, 1248});
    CHECK(v5.durations(SpanKind::tile, "") == Summary{2048, 2368, 2496, 2688, 3040});
  }

  SECTION("stage, phase and k follow from the order, the tile from the CTA") {
    std::map<std::pair<int, int>, int> ctas_of_tile;
    for (const Span& span : v5.trace.spans) {
      const traces::SpanArgs& args = span.args;
      const int cta = v5.track(span).cta;
      if (span.kind == SpanKind::setup && v5.track(span).warp == 0) ++ctas_of_tile[{args.tile_m, args.tile_n}];
      if (span.kind == SpanKind::wait && v5.pipeline(span) == "input_full")
        if (args.stage != args.k % 7 || args.phase != args.k / 7 || args.k > 63) FAIL("k " << args.k);
      if (span.kind == SpanKind::wait && v5.pipeline(span) == "input_empty")
        if (args.stage != args.k % 7 || args.phase != (args.k < 7 ? -1 : args.k / 7 - 1)) FAIL("k " << args.k);
      if (cta == 0) CHECK((args.tile_m == 0 && args.tile_n == 0));
      if (cta == 35) CHECK((args.tile_m == 3 && args.tile_n == 1));  // the second pair of the second stripe
    }
    CHECK(ctas_of_tile.size() == 512);  // 32 x 16 tiles, each once
    CHECK(ctas_of_tile.rbegin()->first == std::pair(31, 15));
  }

  SECTION("k-block period: ends of the waits for a free stage, k = 16 to 60, in the pair's first CTA") {
    std::map<int, std::map<int, uint64_t>> end;  // by CTA and k
    for (const Span& span : v5.trace.spans)
      if (span.kind == SpanKind::wait && v5.pipeline(span) == "input_empty")
        end[v5.track(span).cta][span.args.k] = span.end;
    std::vector<double> first, later;
    for (const auto& [cta, by_k] : end)
      if (cta % 2 == 0)
        (v5.ctas.at(cta).wave == 0 ? first : later).push_back(double(by_k.at(60) - by_k.at(16)) / 44);
    const auto rounded = [](const std::vector<double>& v) {
      const auto [low, high] = std::minmax_element(v.begin(), v.end());
      return std::vector<long>{std::lround(std::accumulate(v.begin(), v.end(), 0.0) / double(v.size())),
                               std::lround(*low), std::lround(*high)};
    };
    CHECK(rounded(first) == std::vector<long>{335, 323, 348});
    CHECK(rounded(later) == std::vector<long>{331, 315, 343});
  }

  SECTION("the life of a CTA, cold and warm") {
    std::map<std::string, std::pair<long, long>> medians;
    for (const traces::CtaInterval& interval : traces::cta_intervals(v5.trace))
      medians[interval.what] = {std::lround(interval.first_wave.median), std::lround(interval.later_waves.median)};
    CHECK(medians["setup"] == std::pair(544L, 672L));
    CHECK(medians["start to first copy"] == std::pair(1280L, 1408L));
    CHECK(medians["first copy to data seen"] == std::pair(1632L, 704L));
    CHECK(medians["start to first MMA"] == std::pair(2912L, 2112L));
    CHECK(medians["first MMA to slot free"].first == 448);
    CHECK(medians["k-block period"] == std::pair(335L, 329L));
    CHECK(medians["epilogue"] == std::pair(2464L, 2496L));
    CHECK(medians["CTA"].first == 27232);
    CHECK(medians["gap to the SM's next CTA"].second == 1312);
  }

  SECTION("stats") {
    const Ran stats = run(scratch, "stats v5.pftrace");
    CHECK(stats.exit_code == 0);
    CHECK(stats.out == R"(108,160 ns (108.16 us); load is the busiest role and works 55.0% of its time
hardware, NVIDIA B200, gau-nernst matmul_v5

role      tracks              ns    works    waits  waits for
load         512      13,480,032    55.0%    45.0%  input_empty 37.4%, accum_full 7.5%
mma          512      13,399,104    42.7%    57.3%  accum_full 44.8%, input_full 12.5%
epilogue    1024      26,762,880    14.0%    86.0%  accum_full 86.0%

span, ns               count       p10    median       p90         max           total
wait accum_full        2,048     1,152    21,600    23,424      24,096      30,027,264
tile                   2,048     2,368     2,496     2,688       3,040       5,134,016
wait input_empty      32,768        64        64       288       1,632       5,047,008
wait input_full       16,384        32        32       224       2,400       1,675,328
setup                  2,048       544       672       768         800       1,341,920
load_issue            32,768        32        32        64          64       1,054,848
mma_issue             16,384        32        64        64          96         900,736
)");
  }
}

// ---------------------------------------------------------------- Triton's Proton

TEST_CASE("a trace in the form of Triton's Proton: names in pid and tid, a line for each overlap", "[import]") {
  const ScratchDirectory scratch;
  const auto event = [](const std::string& name, const std::string& cta, const std::string& warp, double begin,
                        double end) {
    nlohmann::json event = {{"cname", "good"}, {"name", name}, {"cat", "gemm"}, {"ph", "X"}};
    event["pid"] = "my gemm Core" + cta;
    event["tid"] = "warp " + warp;
    event["ts"] = begin, event["dur"] = end - begin;
    event["args"] = {
        {"Finalization Time (ns)", 512}, {"Frequency (MHz)", 1000.0}, {"call_stack", {"main", "gemm"}}};
    return event;
  };
  nlohmann::json file = {{"displayTimeUnit", "ns"}, {"traceEvents", nlohmann::json::array()}};
  for (int i = 0; i < 4; ++i) {
    const double at = 0.1 * i;
    file["traceEvents"].push_back(event("wait_empty", "7 CTA3", "4 (line 0)", at, at + 0.04));
    file["traceEvents"].push_back(event("load", "7 CTA3", "4 (line 0)", at + 0.04, at + 0.06));
    file["traceEvents"].push_back(event("mma", "7 CTA3", "5 (line 0)", at + 0.05, at + 0.09));
    file["traceEvents"].push_back(event("wait_full", "7 CTA3", "5 (line 1)", at + 0.06, at + 0.08));
  }
  file["traceEvents"].push_back(event("epilogue", "0 CTA0", "0 (line 0)", 0.5, 0.75));
  scratch.write("proton.json", file.dump());
  const Ran ran = run(scratch, "import proton.json --map " + kMaps + "triton_proton.toml -o t.pftrace");
  CHECK(ran.err.empty());
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::Contains("17 spans of 4 roles in 2 CTAs"));
  const Trace trace = traces::read_pftrace(scratch / "t.pftrace");
  std::vector<Span> waits;
  for (const Span& span : trace.spans)
    if (trace.tracks[span.track].name == "load" && span.kind == SpanKind::wait) waits.push_back(span);
  REQUIRE(waits.size() == 4);
  CHECK((waits[3].begin == 300 && waits[3].end == 340 && waits[3].args.stage == 0 && waits[3].args.phase == 0));
  const Track& load = trace.tracks[waits[0].track];
  CHECK((load.sm == 7 && load.cta == 3 && load.warp == 4));
}

// ---------------------------------------------------------------- CUTLASS's synclog and CuTe DSL's IKET

namespace {

/// A log in the form of synclog: a load warp (2) and an MMA warp (0) of block 0, two laps of a ring of four.
std::string synclog() {
  std::string text = "Running the GEMM\nsynclog start\n";
  int at = 1;
  const auto line = [&](const std::string& name, int thread, int64_t time, const std::string& fields) {
    text += "synclog at " + std::to_string(at) + ": " + name +
            " line=413 time=" + std::to_string(1'700'000'000'000'000'000 + time) +
            " thread=" + std::to_string(thread) + ",0,0 block=0,0,0 " + fields + "\n";
    at += 12;
  };
  line("fence_barrier_init", 0, 0, "");
  for (int k = 0; k < 8; ++k) {
    const std::string stage = std::to_string(8 * (k % 4));
    const auto address = [&](int first) { return std::to_string(first + 8 * (k % 4)); };
    line("cluster_barrier_wait", 64, 100 * k, "smem_addr=" + address(1056) + " phase=" + std::to_string(1 - k / 4));
    line("tma_load", 64, 100 * k + 32,
         "gmem_int_desc=140737488355328 smem_int_mbar=" + address(1024) + " smem_int_ptr=2048");
    line("cluster_barrier_wait", 0, 100 * k + 10, "smem_addr=" + address(1024) + " phase=" + std::to_string(k / 4));
  }
  return text + "synclog end\nPassed\n";
}

/// What import says to the text, without a map's mistakes; the file is named t.log.
Ran imported(const ScratchDirectory& scratch, const std::string& text, const std::string& map) {
  scratch.write("t.log", text);
  return run(scratch, "import t.log --map " + kMaps + map + " -o t.pftrace");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

std::vector<Span> spans_of(const Trace& trace, const std::string& role, SpanKind kind) {
  std::vector<Span> spans;
  for (const Span& span : trace.spans)
    if (trace.tracks[span.track].name == role && span.kind == kind) spans.push_back(span);
  return spans;
}

}  // namespace

TEST_CASE("a log in the form of CUTLASS's synclog: barriers by address, waits up to the warp's next line",
          "[import]") {
  const ScratchDirectory scratch;
  const Ran ran = imported(scratch, synclog(), "cutlass_synclog.toml");
  CHECK(ran.err.empty());
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::Contains("24 spans of 2 roles in 1 CTAs"));
  const Trace trace = traces::read_pftrace(scratch / "t.pftrace");
  const std::vector<Span> acquires = spans_of(trace, "load", SpanKind::wait),
                          waits = spans_of(trace, "mma", SpanKind::wait),
                          loads = spans_of(trace, "load", SpanKind::load_issue);
  REQUIRE((acquires.size() == 8 && waits.size() == 8 && loads.size() == 8));
  for (int k = 0; k < 8; ++k) {
    CHECK((acquires[k].begin == uint64_t(100 * k) && acquires[k].end == uint64_t(100 * k + 32)));
    // A producer's first lap waits for parity 1, which a fresh barrier passes.
    CHECK((acquires[k].args.stage == k % 4 && acquires[k].args.phase == k / 4 - 1));
    CHECK((waits[k].args.stage == k % 4 && waits[k].args.phase == k / 4));
    CHECK((loads[k].args.stage == k % 4 && loads[k].begin == loads[k].end));
  }
  CHECK((waits[0].begin == 10 && waits[0].end == 110));
  CHECK(waits[7].begin == waits[7].end);  // nobody knows when it ended
  CHECK(trace.names.at(size_t(waits[0].args.pipeline)) == "input_full");
  CHECK(trace.findings.empty());
}

TEST_CASE("a synclog that is not whole, or not one, is refused in one line", "[import]") {
  const ScratchDirectory scratch;
  const auto error = [&](const std::string& text) {
    const Ran ran = imported(scratch, text, "cutlass_synclog.toml");
    CHECK(ran.exit_code == 2);
    CHECK(!std::filesystem::exists(scratch / "t.pftrace"));
    return ran.err;
  };
  CHECK(error("[]") == "t.log: no synclog: no line is \"synclog start\"\n");
  CHECK(error(replaced(synclog(), "synclog end\n", "")) ==
        "t.log: the log is cut off: no line is \"synclog end\"\n");
  CHECK_THAT(error(synclog() + synclog()), Catch::Contains("a second log begins; each launch prints one"));
  CHECK_THAT(error(replaced(synclog(), "synclog end", "synclog was truncated (exceeded capacity of 9 bytes)")),
             Catch::StartsWith("t.log:28: CUTLASS has truncated the log"));
  CHECK(error(replaced(synclog(), "smem_addr=1056 ", "smem_addr=x ")) ==
        "t.log:4: 'smem_addr' is 'x'; an integer is needed\n");
  CHECK(error(replaced(synclog(), "thread=0,0,0", "thread=0,1,0")) ==
        "t.log:3: 'thread' is '0,1,0'; X,0,0 is needed\n");
  CHECK(error(replaced(synclog(), " block=0,0,0", "")) ==
        "t.log:3: the record must have 'time', 'thread' and 'block'\n");
  CHECK_THAT(error(replaced(synclog(), ": tma_load ", ": wgmma_smem_smem ")),
             Catch::Contains("\"wgmma_smem_smem\": the map does not name this event"));
  // With a map of Chrome JSON it is told what it is.
  CHECK_THAT(imported(scratch, synclog(), "triton_proton.toml").err, Catch::Contains("format = \"synclog\""));
}

namespace {

/// A file in the form of run-iket's JSON: CTAs (0, 0, 0) and (1, 1, 0), a load and an MMA warp each.
nlohmann::json iket() {
  nlohmann::json launch = {{"gridId", 4}, {"kernelName", "gemm"}};
  launch["ranges"] = launch["markers"] = launch["warpLifetimes"] = nlohmann::json::array();
  const auto place = [](int cta, int warp) {
    return nlohmann::json{
        {"smId", 7 + cta}, {"tpcId", 3}, {"gpcId", 1}, {"ctaId", {cta, cta, 0}}, {"warpId", warp}};
  };
  for (int cta = 0; cta < 2; ++cta) {
    launch["markers"].push_back({{"markerName", "kernel_start"},
                                 {"timestamp", 960},
                                 {"location", place(cta, 0)},
                                 {"payloadType", 0},
                                 {"payloadVal", 5}});
    const auto range = [&](const char* name, int warp, int begin, int end) {
      launch["ranges"].push_back({{"rangeName", name},
                                  {"rangeScope", 0},
                                  {"startTs", begin},
                                  {"endTs", end},
                                  {"warpLocs", {place(cta, warp)}},
                                  {"internalEvents", nlohmann::json::array()}});
    };
    for (int k = 0; k < 6; ++k) {
      range("tma_acquire", 5, 1000 + 320 * k, 1064 + 320 * k),
          range("tma_issue", 5, 1064 + 320 * k, 1096 + 320 * k);
      range("ab_wait", 4, 1032 + 320 * k, 1256 + 320 * k), range("mma_issue", 4, 1256 + 320 * k, 1288 + 320 * k);
    }
  }
  return {{"launches", {launch}}};
}

}  // namespace

TEST_CASE("a file in the form of IKET's JSON: ranges on their warps, one launch of several", "[import]") {
  const ScratchDirectory scratch;
  const Ran ran = imported(scratch, iket().dump(), "cute_iket.toml");
  CHECK(ran.err.empty());
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::Contains("48 spans of 4 roles in 2 CTAs"));
  const Trace trace = traces::read_pftrace(scratch / "t.pftrace");
  const std::vector<Span> waits = spans_of(trace, "load", SpanKind::wait);
  REQUIRE(waits.size() == 12);
  CHECK(
      (waits[11].begin == 2600 && waits[11].end == 2664 && waits[11].args.stage == 1 && waits[11].args.phase == 0));
  const Track& last = trace.tracks[waits[11].track];
  CHECK((last.cta == 3 && last.sm == 8 && last.warp == 5));  // (1, 1, 0) of a grid of 2 x 2

  nlohmann::json several = iket();
  several["launches"].push_back(several["launches"][0]);
  several["launches"][1]["kernelName"] = "reduce";
  CHECK(imported(scratch, several.dump(), "cute_iket.toml").err ==
        "t.log: 'launches' has 2 launches; the map's 'launch' picks one (0 \"gemm\", 1 \"reduce\")\n");
  std::ifstream file(kMaps + "cute_iket.toml");
  const std::string map{std::istreambuf_iterator<char>(file), {}};
  scratch.write("map.toml", replaced(map, "# launch         = 0 ", "launch = 1 #"));
  CHECK(run(scratch, "import t.log --map map.toml -o t2.pftrace").exit_code == 0);
  scratch.write("map.toml", replaced(map, "# launch         = 0 ", "launch = 2 #"));
  CHECK_THAT(run(scratch, "import t.log --map map.toml -o t3.pftrace").err,
             Catch::StartsWith("t.log: the map's 'launch' is 2; the file has 2 launches"));
}

TEST_CASE("an IKET file that is not as its guide says is refused in one line", "[import]") {
  const ScratchDirectory scratch;
  const auto error = [&](const std::function<void(nlohmann::json & launch)>& edit) {
    nlohmann::json file = iket();
    edit(file["launches"][0]);
    const Ran ran = imported(scratch, file.dump(), "cute_iket.toml");
    CHECK(ran.exit_code == 2);
    return ran.err;
  };
  CHECK(error([](auto& launch) { launch["ranges"][2].erase("endTs"); }) ==
        "t.log: launches[0].ranges[2]: has no 'endTs'\n");
  CHECK(error([](auto& launch) { launch["ranges"][1]["startTs"] = 9999; }) ==
        "t.log: launches[0].ranges[1]: 'endTs' 1096 is before 'startTs' 9999\n");
  CHECK(error([](auto& launch) {
          launch["ranges"][0]["warpLocs"][0]["ctaId"] = {0, 0};
        }) == "t.log: launches[0].ranges[0].warpLocs: 'ctaId' must have three numbers\n");
  CHECK(error([](auto& launch) { launch["ranges"][0]["warpLocs"][0]["warpId"] = -1; }) ==
        "t.log: launches[0].ranges[0].warpLocs: 'warpId' is -1; an integer from 0 is needed\n");
  CHECK_THAT(error([](auto& launch) { launch["ranges"][0]["rangeName"] = "mine"; }),
             Catch::Contains("\"mine\": the map does not name this event"));
  CHECK(imported(scratch, "[]", "cute_iket.toml").err == "t.log: the file: has no 'launches'\n");
  CHECK_THAT(imported(scratch, iket().dump(), "triton_proton.toml").err, Catch::Contains("format = \"iket\""));
  // Keys of one format are refused with another.
  CHECK_THAT(map_error("time_unit = \"ns\"", "launch = 0"), Catch::Contains("'format = \"iket\"'"));
  CHECK_THAT(map_error("[args]", "[[barrier]]\nname = \"b\"\nsmem_addr = 0\n[args]"),
             Catch::Contains("'format = \"synclog\"'"));
}

}  // namespace sm100::sim
