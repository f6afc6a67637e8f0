// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "traces/diff_story.h"
#include "traces/html/html_report.h"
#include "traces/html/page.h"
#include "traces/sample_trace.h"

using namespace sm100;
using namespace sm100::traces;
using nlohmann::json;

namespace {

std::string bytes_of(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : base64.substr(0, base64.find('='))) {
    bits = bits << 6 | uint32_t(digits.find(c));
    if ((count += 6) >= 8) bytes += char(bits >> (count -= 8) & 255);
  }
  return bytes;
}

/// A block of a page, read as columns.h describes it.
struct Block {
  json header;
  std::map<std::string, std::vector<int64_t>> columns;
};

Block block(const std::string& page, const std::string& id) {
  const std::string tag = "<script type=\"text/plain\" id=\"" + id + "\">";
  const size_t begin = page.find(tag);
  REQUIRE(begin != std::string::npos);
  const size_t end = page.find("</script>", begin);
  const std::string packed = bytes_of(page.substr(begin + tag.size(), end - begin - tag.size()));
  std::string bytes(size_t{1} << 20, '\0');
  uLongf length = bytes.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(bytes.data()), &length, reinterpret_cast<const Bytef*>(packed.data()),
                     packed.size()) == Z_OK);
  bytes.resize(length);
  size_t at = 4;
  size_t header = 0;
  for (int i = 0; i < 4; ++i) header |= size_t(uint8_t(bytes[size_t(i)])) << 8 * i;
  Block result{json::parse(bytes.substr(at, header)), {}};
  at += header;
  for (const json& column : result.header["columns"]) {
    std::vector<int64_t>& values = result.columns[column[0]];
    const size_t column_end = at + column[2].get<size_t>();
    int64_t previous = 0;
    while (at < column_end) {
      uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const uint8_t byte = uint8_t(bytes[at++]);
        value |= uint64_t(byte & 127) << shift;
        if (byte < 128) break;
      }
      previous += int64_t(value >> 1) ^ -int64_t(value & 1);
      values.push_back(previous);
    }
    CHECK(values.size() == column[1].get<size_t>());
  }
  CHECK(at == bytes.size());
  return result;
}

std::string page_of(const Trace& trace) {
  ScratchDirectory scratch;
  write_html_report({trace, "sample.pftrace"}, scratch / "a.html");
  return read_whole(scratch / "a.html");
}

std::string page_of(const Trace& a, const Trace& b) {
  ScratchDirectory scratch;
  MatchedPairs matched;
  const TraceDiff diff = diff_traces(a, b, &matched);
  write_html_report({a, "a.pftrace"}, {b, "b.pftrace"}, diff, matched, scratch / "ab.html");
  return read_whole(scratch / "ab.html");
}

}  // namespace

TEST_CASE("html report: the page holds the whole trace", "[traces]") {
  Trace trace = sample_trace();
  const Block data = block(page_of(trace), "trace-a");
  CHECK(data.header["name"] == "sample.pftrace");
  CHECK(data.header["metadata"]["scenario"] == trace.metadata.scenario);
  CHECK(data.header["metadata"]["configuration"]["stages"] == 6);
  CHECK(data.header["metadata"]["dropped_events"] == 3);
  CHECK(data.header["names"].get<std::vector<std::string>>() == trace.names);
  REQUIRE(data.header["tracks"].size() == trace.tracks.size());
  CHECK(data.header["tracks"][3] == json({int(TrackKind::role), "mma", 1, 7, 0, 6, -1, -1}));
  CHECK(data.header["tracks"][1] == json({int(TrackKind::cta), "CTA 0", 0, 7, 0, -1, 0, 1}));
  CHECK(data.header["metadata"]["outcome"] == "hang");
  CHECK(data.header["metadata"]["verdict"] == "findings");

  // Every span is there, whatever the order.
  const auto& columns = data.columns;
  const auto origin = data.header["origin"].get<int64_t>();
  using Fields = std::vector<int64_t>;
  std::vector<Fields> expected, found;
  for (const Span& s : trace.spans)
    expected.push_back({int64_t(s.track),
                        int64_t(s.kind),
                        int64_t(s.begin),
                        int64_t(s.end),
                        s.args.pipeline,
                        s.args.stage,
                        s.args.phase,
                        s.args.tile_m,
                        s.args.tile_n,
                        s.args.tile_k,
                        s.args.k,
                        s.args.bytes,
                        s.args.column,
                        s.args.columns,
                        s.args.line,
                        s.args.operand,
                        s.args.multicast,
                        s.args.dimensions,
                        s.args.coordinates[0],
                        s.args.coordinates[1],
                        s.args.coordinates[2],
                        s.args.coordinates[3],
                        s.args.coordinates[4],
                        s.flow_in != 0,
                        s.flow_out != 0});
  for (size_t i = 0; i < trace.spans.size(); ++i) {
    const auto at = [&](const char* name) { return columns.at(std::string("span.") + name).at(i); };
    const int64_t begin = at("begin") + origin;
    found.push_back({at("track"),
                     at("kind"),
                     begin,
                     begin + at("duration"),
                     at("pipeline"),
                     at("stage"),
                     at("phase"),
                     at("tile_m"),
                     at("tile_n"),
                     at("tile_k"),
                     at("k"),
                     at("bytes"),
                     at("column"),
                     at("columns"),
                     at("line"),
                     at("operand"),
                     at("multicast"),
                     at("dimensions"),
                     at("coordinate_0"),
                     at("coordinate_1"),
                     at("coordinate_2"),
                     at("coordinate_3"),
                     at("coordinate_4"),
                     at("flow_in") != 0,
                     at("flow_out") != 0});
  }
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  CHECK(found == expected);

  REQUIRE(columns.at("event.time").size() == trace.barrier_events.size());
  expected.clear(), found.clear();
  for (const BarrierEvent& e : trace.barrier_events)
    expected.push_back({int64_t(e.track), int64_t(e.kind), int64_t(e.time), e.actor, e.phase, e.pending, e.tx,
                        e.amount, e.by == kNoTrack ? -1 : int64_t(e.by), e.flow != 0});
  for (size_t i = 0; i < trace.barrier_events.size(); ++i) {
    const auto at = [&](const char* name) { return columns.at(std::string("event.") + name).at(i); };
    found.push_back({at("track"), at("kind"), at("time") + origin, at("actor"), at("phase"), at("pending"),
                     at("tx"), at("amount"), at("by"), at("flow") != 0});
  }
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  CHECK(found == expected);

  REQUIRE(!trace.wakeups.empty());
  REQUIRE(columns.at("wakeup.begin").size() == trace.wakeups.size());
  CHECK(columns.at("wakeup.begin")[0] + origin == int64_t(trace.wakeups[0].begin));
  CHECK(columns.at("wakeup.reason")[0] == trace.wakeups[0].reason);
  REQUIRE(data.header["findings"].size() == trace.findings.size());
  REQUIRE(!trace.findings.empty());
  const json& finding = data.header["findings"][0];
  CHECK(finding["time"].get<int64_t>() + origin == int64_t(trace.findings[0].time));
  CHECK(finding["track"] == int64_t(trace.findings[0].track));
  CHECK(finding["id"] == trace.findings[0].id);
  CHECK(finding["report"] == trace.findings[0].report);
  CHECK(finding["marks"].empty());
  const FindingMark& root = trace.findings[1].marks.at(0);
  CHECK(data.header["findings"][1]["marks"][0] == json({{"what", "root"},
                                                        {"track", root.track},
                                                        {"time", int64_t(root.time) - origin},
                                                        {"barrier", root.barrier},
                                                        {"line", root.line},
                                                        {"text", root.text}}));
  CHECK(data.header["findings"][1]["marks"][1]["barrier"] == -1);
}

TEST_CASE("html report: spans stand by track and begin, outer before inner", "[traces]") {
  const Block data = block(page_of(sample_trace()), "trace-a");
  const auto &track = data.columns.at("span.track"), &begin = data.columns.at("span.begin"),
             &duration = data.columns.at("span.duration");
  REQUIRE(track.size() > 3);
  for (size_t i = 1; i < track.size(); ++i)
    CHECK(std::tuple(track[i - 1], begin[i - 1], -duration[i - 1]) <= std::tuple(track[i], begin[i], -duration[i]));
}

TEST_CASE("html report: a flow has the same number at its begin, on its way and at its end", "[traces]") {
  Trace trace = sample_trace();
  for (Span& span : trace.spans) {
    if (span.flow_in) span.flow_in += uint64_t{1} << 60;  // ids may be anything
    if (span.flow_out) span.flow_out += uint64_t{1} << 60;
  }
  for (BarrierEvent& event : trace.barrier_events)
    if (event.flow) event.flow += uint64_t{1} << 60;
  const Block data = block(page_of(trace), "trace-a");
  const auto &in = data.columns.at("span.flow_in"), &out = data.columns.at("span.flow_out"),
             &passing = data.columns.at("event.flow");
  size_t through = 0;
  for (int64_t flow : in) {
    if (flow == 0) continue;
    CHECK(std::count(out.begin(), out.end(), flow) == 1);
    through += size_t(std::count(passing.begin(), passing.end(), flow));
  }
  CHECK(through > 0);
}

TEST_CASE("html report: times of a GPU's clock, beyond 2^53, stay exact", "[traces]") {
  Trace trace = sample_trace();
  const uint64_t late = (uint64_t{1} << 60) + 1;
  for (Span& span : trace.spans) span.begin += late, span.end += late;
  for (BarrierEvent& event : trace.barrier_events) event.time += late;
  for (Wakeup& wakeup : trace.wakeups) wakeup.begin += late, wakeup.end += late, wakeup.caused += late;
  for (Finding& finding : trace.findings) finding.time += late;
  Block moved = block(page_of(trace), "trace-a"), unmoved = block(page_of(sample_trace()), "trace-a");
  // A critical path begins at cycle 0; no GPU's trace has one.
  for (Block* of : {&moved, &unmoved})
    std::erase_if(of->columns, [](const auto& column) { return column.first.starts_with("path."); });
  CHECK(moved.columns == unmoved.columns);
}

TEST_CASE("html report: the page loads nothing and is small without its data", "[traces]") {
  const std::string_view page = html_page();
  CHECK(page.size() > 10'000);
  CHECK(page.size() < 600'000);
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "src=\"//", "url(http"})
    CHECK(page.find(outside) == std::string_view::npos);
  CHECK(page.find("default-src 'none'") != std::string_view::npos);
}

TEST_CASE("html report: two traces, their differences and which spans mean the same", "[traces]") {
  Story other = story();
  other.load(0)[issue_of(1)].args.stage += 1;
  const Trace a = other.record(), b = story().record();
  const std::string page = page_of(a, b);
  const Block in_a = block(page, "trace-a"), in_b = block(page, "trace-b"), diff = block(page, "diff");
  CHECK_FALSE(diff.header["identical"].get<bool>());
  REQUIRE(diff.header["divergences"].size() == 1);
  const json& divergence = diff.header["divergences"][0];
  CHECK(divergence["role"] == "load");
  const auto stage = [&](const Block& of, const char* row) {
    return of.columns.at("span.stage").at(divergence[row].get<size_t>());
  };
  CHECK(stage(in_a, "span_a") == stage(in_b, "span_b") + 1);

  const auto &rows_a = diff.columns.at("matched.a"), &rows_b = diff.columns.at("matched.b");
  REQUIRE(rows_a.size() == rows_b.size());
  REQUIRE(rows_a.size() > 5);
  for (size_t i = 0; i < rows_a.size(); ++i)
    for (const char* column : {"span.kind", "span.stage", "span.k"})
      CHECK(in_a.columns.at(column).at(size_t(rows_a[i])) == in_b.columns.at(column).at(size_t(rows_b[i])));
}

TEST_CASE("html report: a trace that contradicts itself leaves no file", "[traces]") {
  Trace trace = sample_trace();
  std::swap(trace.spans[0].begin, trace.spans[0].end);
  ScratchDirectory scratch;
  CHECK_THROWS_AS(write_html_report({trace, "x"}, scratch / "a.html"), std::runtime_error);
  CHECK(scratch.files() == 0);
}
