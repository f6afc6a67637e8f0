// SPDX-License-Identifier: Apache-2.0
// Chrome JSON of other people: hand-worked spans, and one line for what does not fit.

#include <zlib.h>

#include "catch.h"
#include "scratch_directory.h"
#include "traces/exchange/chrome_import.h"
#include "traces/format/compressed_file.h"
#include "traces/format/pftrace.h"

using namespace sm100;
using namespace sm100::traces;

namespace {

/// pid is the SM, tid = pid + 2 cta + warp; LOAD and the waits W of warp 0, MMA of warp 1.
ChromeImportMap small_map() {
  ChromeImportMap map;
  map.source = "hardware";
  map.device = "a GPU";
  map.ticks_per_second = 1e9;
  map.units_per_second = 1e9;
  map.sm.emplace("pid", kThreadVariables);
  map.cta.emplace("(tid - pid) / 2", kThreadVariables);
  map.warp.emplace("(tid - pid) % 2", kThreadVariables);
  map.roles.push_back({.name = "finish", .events = {"END"}});
  map.roles.push_back({.name = "load", .when = Expression("warp == 0", kRoleVariables)});
  map.roles.push_back({.name = "mma", .when = Expression("warp == 1", kRoleVariables)});
  map.args[2].emplace("cta * 10", kEventVariables);  // tile_m
  map.events.push_back({.name = "W", .kind = SpanKind::wait, .pipeline = "input_empty", .pipeline_arg = "what"});
  map.events.back().args[0].emplace("i % 2", kEventVariables);      // stage
  map.events.back().args[1].emplace("i / 2 - 1", kEventVariables);  // phase
  map.events.push_back({.name = "LOAD", .kind = SpanKind::load_issue});
  map.events.back().args[6].emplace("args.bytes", kEventVariables);
  map.events.push_back({.name = "MMA", .kind = SpanKind::mma_issue});
  map.events.push_back({.name = "END", .kind = SpanKind::tile});
  map.ignore = {"noise"};
  return map;
}

Trace imported(const std::string& text, const ChromeImportMap& map = small_map()) {
  ScratchDirectory scratch;
  return import_chrome_json(scratch.write("t.json", text), map);
}

Trace imported_events(const std::string& events, const ChromeImportMap& map = small_map()) {
  return imported("[" + events + "]", map);
}

/// The message without the directory.
std::string error(const std::string& text, const ChromeImportMap& map = small_map()) {
  try {
    imported(text, map);
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    CHECK(what.find('\n') == std::string::npos);
    return what.substr(what.find("t.json"));
  }
  return "no error";
}

std::string event_error(const std::string& event, const ChromeImportMap& map = small_map()) {
  return error(R"([{"ph": "X", "name": "MMA", "pid": 5, "tid": 6, "ts": 0, "dur": 1}, )" + event + "]", map);
}

}  // namespace

TEST_CASE("import: tracks, kinds and derived arguments of a small timeline", "[import]") {
  const Trace trace = imported(R"({"displayTimeUnit": "ns", "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "whatever"}},
    {"ph": "M", "name": "thread_sort_index", "pid": 7, "tid": 9, "args": {"sort_index": 3}},
    {"ph": "X", "name": "MMA",  "pid": 7, "tid": 10, "ts": 130, "dur": 20},
    {"ph": "X", "name": "W",    "pid": 7, "tid": 9, "ts": 100, "dur": 5},
    {"ph": "X", "name": "LOAD", "pid": 7, "tid": 9, "ts": 105, "dur": 0, "args": {"bytes": 32768, "note": "x"}},
    {"ph": "X", "name": "W",    "pid": 7, "tid": 9, "ts": 110, "dur": 5, "args": {"what": "other"}},
    {"ph": "i", "name": "noise", "pid": "?", "s": "t"},
    {"ph": "X", "name": "noise", "pid": 7, "tid": 9, "ts": 0, "dur": 500},
    {"ph": "X", "name": "W",    "pid": 7, "tid": 9, "ts": 120, "dur": 30},
    {"ph": "X", "name": "END",  "pid": 7, "tid": 10, "ts": 150, "dur": 50},
    {"ph": "X", "name": "LOAD", "pid": 3, "tid": 3, "ts": 2, "dur": 1}
  ]})");
  CHECK(trace.metadata.source == "hardware");
  CHECK(trace.metadata.device == "a GPU");
  CHECK(trace.metadata.ticks_per_second == 1e9);

  REQUIRE(trace.tracks.size() == 7);
  CHECK(trace.tracks[0] == Track{0, TrackKind::gpu, "a GPU"});
  CHECK(trace.tracks[1] == Track{1, TrackKind::cta, "CTA 0 on SM 3", 0, 3, 0});
  CHECK(trace.tracks[2] == Track{2, TrackKind::role, "load", 1, 3, 0, 0});
  CHECK(trace.tracks[3] == Track{3, TrackKind::cta, "CTA 1 on SM 7", 0, 7, 1});
  CHECK(trace.tracks[4] == Track{4, TrackKind::role, "load", 3, 7, 1, 0});
  CHECK(trace.tracks[5] == Track{5, TrackKind::role, "mma", 3, 7, 1, 1});
  CHECK(trace.tracks[6] == Track{6, TrackKind::role, "finish", 3, 7, 1, 1});  // the same warp, later

  // i counts W on its thread: stages 0 1 0, phases -1 (absent) -1 0.
  REQUIRE(trace.names == std::vector<std::string>{"input_empty", "other"});
  const std::vector<Span> expected = {
      {.begin = 2, .end = 3, .track = 2, .kind = SpanKind::load_issue, .args = {.tile_m = 0}},
      {.begin = 100, .end = 105, .track = 4, .sequence = 0, .args = {.pipeline = 0, .stage = 0, .tile_m = 10}},
      {.begin = 105,
       .end = 105,
       .track = 4,
       .kind = SpanKind::load_issue,
       .sequence = 1,
       .args = {.tile_m = 10, .bytes = 32768}},
      {.begin = 110, .end = 115, .track = 4, .sequence = 2, .args = {.pipeline = 1, .stage = 1, .tile_m = 10}},
      {.begin = 120,
       .end = 150,
       .track = 4,
       .sequence = 3,
       .args = {.pipeline = 0, .stage = 0, .phase = 0, .tile_m = 10}},
      {.begin = 130, .end = 150, .track = 5, .kind = SpanKind::mma_issue, .args = {.tile_m = 10}},
      {.begin = 150, .end = 200, .track = 6, .kind = SpanKind::tile, .args = {.tile_m = 10}}};
  CHECK(trace.spans == expected);
  CHECK(trace.barrier_events.empty());

  ScratchDirectory scratch;
  write_pftrace(trace, scratch / "t.pftrace");
  CHECK(read_pftrace(scratch / "t.pftrace") == trace);
}

TEST_CASE("import: B and E make a span, inner ones are recorded first, i follows time", "[import]") {
  const Trace trace = imported_events(R"(
    {"ph": "B", "name": "W",    "pid": 0, "tid": 0, "ts": 40},
    {"ph": "B", "name": "END",  "pid": 0, "tid": 0, "ts": 10, "args": {"x": 1}},
    {"ph": "B", "name": "W",    "pid": 0, "tid": 0, "ts": 20},
    {"ph": "E", "pid": 0, "tid": 0, "ts": 30},
    {"ph": "B", "name": "noise", "pid": 0, "tid": 0, "ts": 31},
    {"ph": "E", "name": "noise", "pid": 0, "tid": 0, "ts": 32},
    {"ph": "E", "name": "END",  "pid": 0, "tid": 0, "ts": 35},
    {"ph": "E", "name": "W",    "pid": 0, "tid": 0, "ts": 60})");
  ChromeImportMap one_role = small_map();
  REQUIRE(trace.spans.size() == 3);
  CHECK(trace.spans[0].kind == SpanKind::tile);
  CHECK(trace.spans[0].begin == 10);
  CHECK(trace.spans[0].end == 35);
  CHECK(trace.spans[1].begin == 20);
  CHECK(trace.spans[1].end == 30);
  CHECK(trace.spans[1].args.stage == 0);
  CHECK(trace.spans[2].begin == 40);
  CHECK(trace.spans[2].end == 60);
  CHECK(trace.spans[2].args.stage == 1);

  // On one track: [0, 10] holds [0, 10] and [4, 10]; [10, 10] follows.
  one_role.roles = {{.name = "all"}};
  const Trace nested = imported_events(R"(
    {"ph": "X", "name": "END",  "pid": 0, "tid": 0, "ts": 0, "dur": 10},
    {"ph": "X", "name": "MMA",  "pid": 0, "tid": 0, "ts": 0, "dur": 10},
    {"ph": "X", "name": "W",    "pid": 0, "tid": 0, "ts": 4, "dur": 6},
    {"ph": "X", "name": "LOAD", "pid": 0, "tid": 0, "ts": 10, "dur": 0})",
                                       one_role);
  const auto sequence = [&](SpanKind kind) {
    for (const Span& span : nested.spans)
      if (span.kind == kind) return int(span.sequence);
    return -1;
  };
  CHECK(sequence(SpanKind::wait) == 0);
  CHECK(sequence(SpanKind::mma_issue) == 1);
  CHECK(sequence(SpanKind::tile) == 2);
  CHECK(sequence(SpanKind::load_issue) == 3);
}

TEST_CASE("import: places and roles from the names of processes and threads", "[import]") {
  ChromeImportMap map = small_map();
  map.sm.reset();
  map.cta.reset();
  map.warp.emplace("thread - 1", kThreadVariables);
  map.process_name = "CTA {cta} on SM {sm}";
  map.thread_name = "{role} warp";
  const std::string names = R"({"ph": "M", "name": "process_name", "pid": 90, "args": {"name": "CTA 12 on SM 3"}},
    {"ph": "M", "name": "thread_name", "pid": 90, "tid": 50, "args": {"name": "CTA 12"}},
    {"ph": "M", "name": "thread_name", "pid": 90, "tid": 60, "args": {"name": "scheduler warp"}},
    {"ph": "M", "name": "thread_name", "pid": 90, "tid": 70, "args": {"name": "mma warp"}},)";
  const Trace trace =
      imported_events(names + R"({"ph": "X", "name": "MMA", "pid": 90, "tid": 70, "ts": 1, "dur": 1})", map);
  REQUIRE(trace.tracks.size() == 3);
  CHECK(trace.tracks[1] == Track{1, TrackKind::cta, "CTA 12 on SM 3", 0, 3, 12});
  CHECK(trace.tracks[2] == Track{2, TrackKind::role, "mma", 1, 3, 12, 1});

  CHECK(event_error(names + R"({"ph": "X", "name": "MMA", "pid": 90, "tid": 50, "ts": 1, "dur": 1})", map) ==
        R"(t.json: event 0 "MMA": its process name is ""; the map allows "CTA {cta} on SM {sm}")");
  CHECK(error("[" + names + R"({"ph": "X", "name": "MMA", "pid": 90, "tid": 50, "ts": 1, "dur": 1}])", map) ==
        R"(t.json: event 4 "MMA": its thread name is "CTA 12"; the map allows "{role} warp")");
  CHECK_THROWS_WITH(check_pattern("CTA {cta} of {pid}"), "'{pid}' is none of {cta}, {sm}, {warp}, {role} and {}");
  CHECK_THROWS_WITH(check_pattern("CTA {cta"), "'{cta' is none of {cta}, {sm}, {warp}, {role} and {}");
  CHECK_THROWS_WITH(check_pattern("CTA }"), "'}' is none of {cta}, {sm}, {warp}, {role} and {}");
}

TEST_CASE("import: times become whole ticks, integers without rounding", "[import]") {
  const std::string event = R"({"ph": "X", "name": "MMA", "pid": 0, "tid": 1, "ts": TS, "dur": DUR})";
  const auto ticks = [&](std::string ts, std::string dur, double units, double per_second) {
    ChromeImportMap map = small_map();
    map.units_per_second = units;
    map.ticks_per_second = per_second;
    std::string text = event;
    text.replace(text.find("TS"), 2, ts).replace(text.find("DUR"), 3, dur);
    const Span span = imported_events(text, map).spans.at(0);
    return std::pair(span.begin, span.end);
  };
  using Times = std::pair<uint64_t, uint64_t>;
  CHECK(ticks("1700000000123456789", "11", 1e9, 1e9) == Times{1700000000123456789, 1700000000123456800});
  CHECK(ticks("1.5", "0.25", 1e6, 1e9) == Times{1500, 1750});
  CHECK(ticks("3", "1", 1e6, 1e9) == Times{3000, 4000});
  CHECK(ticks("0.1", "0.2", 1e6, 2e9) == Times{200, 600});
  CHECK(ticks("10", "5", 1e9, 1.856e9) == Times{19, 28});  // 18.56, 27.84
}

TEST_CASE("import: gzip is told by its content, a damaged file is refused", "[import]") {
  const std::string text =
      R"([{"ph": "X", "name": "MMA", "pid": 0, "tid": 1, "ts": 1, "dur": 2}])" + std::string(100'000, ' ');
  ScratchDirectory scratch;
  const auto packed = scratch / "t.json";
  gzFile file = gzopen(packed.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), unsigned(text.size())) == int(text.size()));
  gzclose(file);
  CHECK(std::filesystem::file_size(packed) < 1000);
  CHECK(read_compressed_file(packed) == text);
  CHECK(import_chrome_json(packed, small_map()).spans.size() == 1);

  const auto what = [&](const std::filesystem::path& path, size_t largest = kLargestText) {
    try {
      read_compressed_file(path, largest);
    } catch (const std::runtime_error& error) { return std::string(error.what()); }
    return std::string("no error");
  };
  const std::string bytes = read_whole(packed);
  CHECK(what(scratch.write("cut", bytes.substr(0, bytes.size() - 20))).ends_with("/cut: the gzip file is cut"));
  std::string flipped = bytes;
  flipped[bytes.size() - 6] ^= 1;  // within the checksum
  CHECK(what(scratch.write("bad", flipped)).find("/bad: the gzip file is damaged") != std::string::npos);
  CHECK(what(scratch.write("large", std::string(3 << 20, ' ')), 2 << 20).ends_with("it holds more than 2 MiB"));
  CHECK(what(packed, 50'000).ends_with("it holds more than 0 MiB"));
  CHECK(what(scratch.path()).ends_with("it is a directory"));
  CHECK(what(scratch / "absent").ends_with("No such file or directory"));
}

TEST_CASE("import: what is wrong with a file, in one line", "[import]") {
  CHECK(error("[1, 2").starts_with("t.json: not valid JSON: parse error at line 1, column 6: "));
  CHECK(error("[1e999]") == "t.json: not valid JSON: number overflow parsing '1e999'");
  CHECK(error("{}") == "t.json: no Chrome trace: an array of events or an object with 'traceEvents' is needed");
  CHECK(error("3") == error("{}"));
  CHECK(error(R"({"traceEvents": 7})") == error("{}"));
  CHECK(error("[]") == "t.json: no event in it is one of the map's");
  CHECK(event_error("17") == "t.json: event 1: is 17; an object is needed");
  CHECK(event_error("{}") == R"(t.json: event 1: 'ph' is missing; allowed are "X", "B", "E" and "M")");
  CHECK(
      event_error(R"({"ph": "C", "name": "power"})") ==
      R"(t.json: event 1 "power": 'ph' is "C"; allowed are "X", "B", "E" and "M", or its name in the map's 'ignore')");
  CHECK(event_error(R"({"ph": "X", "pid": 0})") == "t.json: event 1: 'name' is missing; a string is needed");
  CHECK(
      event_error(R"({"ph": "X", "name": "LAOD"})") ==
      R"(t.json: event 1 "LAOD": the map does not name this event; it has "W", "LOAD", "MMA", "END", or put it into 'ignore')");
  const auto x = [](std::string members) { return R"({"ph": "X", "name": "MMA", )" + members + "}"; };
  CHECK(event_error(x(R"("pid": 5, "tid": 6, "dur": 1)")) ==
        R"(t.json: event 1 "MMA": 'ts' is missing; a number is needed)");
  CHECK(event_error(x(R"("pid": 5, "tid": 6, "ts": "1", "dur": 1)")) ==
        R"(t.json: event 1 "MMA": 'ts' is "1"; a number is needed)");
  CHECK(event_error(x(R"("pid": 5, "tid": 6, "ts": 1)")) ==
        R"(t.json: event 1 "MMA": 'dur' is missing; a number is needed)");
  CHECK(event_error(x(R"("pid": 5, "tid": 6, "ts": 9, "dur": -1)")) ==
        R"(t.json: event 1 "MMA": 'dur' is -1; a number from 0 is needed)");
  CHECK(event_error(x(R"("pid": 5, "tid": 6, "ts": -9, "dur": 1)")) ==
        R"(t.json: event 1 "MMA": 'ts' is -9; allowed are 0 to 2^62 ticks)");
  CHECK(event_error(x(R"("pid": 5, "tid": 6, "ts": 9, "dur": 9223372036854775807)")) ==
        R"(t.json: event 1 "MMA": 'ts + dur' is 9 + 9223372036854775807; allowed are 0 to 2^62 ticks)");
  CHECK(event_error(x(R"("pid": true, "tid": 6, "ts": 9, "dur": 1)")) ==
        R"(t.json: event 1 "MMA": 'pid' is true; an integer is needed)");
  CHECK(event_error(x(R"("pid": 5, "tid": 0.5, "ts": 9, "dur": 1)")) ==
        R"(t.json: event 1 "MMA": 'tid' is 0.5; an integer is needed)");
  CHECK(event_error(x(R"("pid": 5, "tid": 6, "ts": 9, "dur": 1, "args": [1])")) ==
        R"(t.json: event 1 "MMA": 'args' is [1]; an object is needed)");
  CHECK(event_error(R"({"ph": "M", "name": "thread_name", "pid": 5, "tid": 6})") ==
        R"(t.json: event 1 "thread_name": 'args.name' is missing; a string is needed)");
  CHECK(event_error(R"({"ph": "E", "pid": 5, "tid": 6, "ts": 9})") ==
        R"(t.json: event 1: 'ph' is "E", but no "B" is open on its thread)");
  CHECK(event_error(R"({"ph": "B", "name": "MMA", "pid": 5, "tid": 6, "ts": 9},
                       {"ph": "E", "name": "END", "pid": 5, "tid": 6, "ts": 9})") ==
        R"(t.json: event 2 "END": ends event 1 "MMA"; a B and its E have one name)");
}

TEST_CASE("import: what a map says must fit the events", "[import]") {
  const auto x = [](std::string members) {
    return R"({"ph": "X", "name": )" + members + R"(, "ts": 9, "dur": 1})";
  };
  CHECK(event_error(x(R"("MMA", "pid": 5, "tid": 1)")) ==
        R"(t.json: event 1 "MMA": its 'cta' is -2; allowed are integers from 0)");
  CHECK(event_error(x(R"("W", "pid": 4, "tid": 5)")) ==
        R"(t.json: event 0 "MMA": CTA 0 is on SM 5 here and on SM 4 in another thread)");
  CHECK(event_error(x(R"("LOAD", "pid": 5, "tid": 5, "args": {"bytes": "many"})")) ==
        R"(t.json: event 1 "LOAD": 'bytes' = args.bytes: args.bytes is "many"; an integer is needed)");
  CHECK(event_error(x(R"("W", "pid": 5, "tid": 5, "args": {"what": 3})")) ==
        R"(t.json: event 1 "W": 'args.what' is 3; a string is needed)");

  ChromeImportMap map = small_map();
  map.events[0].args[0].emplace("1000 * pid * pid", kEventVariables);
  CHECK(event_error(x(R"("W", "pid": 6, "tid": 8)"), map) ==
        R"(t.json: event 1 "W": 'stage' = 1000 * pid * pid is 36000; allowed are -1 (absent) to 32767)");
  map.events[0].args[0].emplace("i - 2", kEventVariables);
  CHECK(event_error(x(R"("W", "pid": 6, "tid": 8)"), map) ==
        R"(t.json: event 1 "W": 'stage' = i - 2 is -2; allowed are -1 (absent) to 32767)");
  map.events[0].args[0].emplace("7 / i", kEventVariables);
  CHECK(event_error(x(R"("W", "pid": 6, "tid": 8)"), map) ==
        R"(t.json: event 1 "W": 'stage' = 7 / i: division by zero)");
  map.roles.pop_back();
  CHECK(error(R"([{"ph": "X", "name": "MMA", "pid": 6, "tid": 7, "ts": 1, "dur": 1}])", map) ==
        R"(t.json: event 0 "MMA": no [[role]] of the map fits it (pid 6, tid 7, cta 0, warp 1))");
  map = small_map();
  map.source.reset();
  CHECK(error("[]", map) ==
        R"(t.json: neither the map nor the file's otherData has 'source', "sim" or "hardware")");
  map = small_map();
  map.ticks_per_second.reset();
  CHECK(error("[]", map) ==
        "t.json: neither the map nor the file's otherData has 'ticks_per_second', a number above 0");
}

TEST_CASE("import: what a hung kernel leaves open lasts until the file ends, and open waits are the hang",
          "[import]") {
  // Warp 0 waits for a free stage, warp 1 is in an MMA; the last event of the file is at 90.
  const Trace trace = imported_events(R"(
      {"ph": "X", "name": "LOAD", "pid": 0, "tid": 0, "ts": 10, "dur": 5},
      {"ph": "B", "name": "W", "pid": 0, "tid": 0, "ts": 20, "args": {"what": "input_empty"}},
      {"ph": "B", "name": "MMA", "pid": 0, "tid": 1, "ts": 30},
      {"ph": "B", "name": "noise", "pid": 0, "tid": 1, "ts": 40},
      {"ph": "X", "name": "LOAD", "pid": 1, "tid": 3, "ts": 80, "dur": 10})");
  REQUIRE(trace.spans.size() == 4);
  const auto span = [&](SpanKind kind, uint64_t begin) {
    for (const Span& s : trace.spans)
      if (s.kind == kind && s.begin == begin) return s;
    return Span{};
  };
  CHECK(span(SpanKind::wait, 20).end == 90);
  CHECK(span(SpanKind::mma_issue, 30).end == 90);
  REQUIRE(trace.findings.size() == 1);
  const Finding& hang = trace.findings[0];
  CHECK(hang.id == "hang");
  CHECK_FALSE(hang.warning);
  CHECK(hang.time == 90);
  CHECK(hang.track == span(SpanKind::wait, 20).track);
  CHECK(hang.message ==
        "load (warp 0) of CTA 0 waits for input_empty[0] since 20; the timeline ends without an end of this wait");
  CHECK(hang.report ==
        "HANG: 1 wait is open when the timeline ends, at 90\n"
        "  load (warp 0) of CTA 0 waits for input_empty[0] since 20\n");

  // An open span that is no wait says nothing of a hang.
  CHECK(imported_events(R"({"ph": "B", "name": "MMA", "pid": 5, "tid": 6, "ts": 9})").findings.empty());
}
