// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/csv.h"

#include "catch.h"
#include "traces/sample_trace.h"

using namespace sm100;
using namespace sm100::traces;

namespace {

/// Rows and fields as RFC 4180 has them.
std::vector<std::vector<std::string>> parse(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = rows.back().back();
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\r') {
      REQUIRE(text.at(++i) == '\n');
      rows.emplace_back(1);
    } else {
      field += c;
    }
  }
  REQUIRE(rows.back() == std::vector<std::string>{""});  // the last row ends too
  rows.pop_back();
  return rows;
}

}  // namespace

TEST_CASE("csv: a row per span with all its arguments, in order of begin", "[csv]") {
  ScratchDirectory scratch;
  write_csv(sample_trace(), scratch / "a.csv");
  CHECK(read_whole(scratch / "a.csv") ==
        "sm,cta,warp,track,track_kind,span,begin,end,duration,sequence,pipeline,stage,phase,tile_m,tile_n,tile_k,k,"
        "bytes,"
        "column,columns,flow_in,flow_out\r\n"
        "7,0,6,mma,role,wait,80,700,620,0,input_full,0,0,,,,,,,,1,\r\n"
        "7,0,6,mma,role,tile,80,764,684,3,,,,1,2,,,,,,,\r\n"
        "7,0,,tmem,unit,tmem_alloc,80,764,684,0,,,,,,,,,0,512,,\r\n"
        "7,0,5,load,role,load_issue,90,100,10,0,input_full,0,0,,,,0,32768,,,,\r\n"
        "7,0,,tma,unit,tma_load,100,700,600,0,,0,,,,,,16384,,,,1\r\n"
        "7,0,,tma,unit,tma_load,110,650,540,1,,0,,,,,,16384,,,,2\r\n"
        "7,0,6,mma,role,mma_issue,700,764,64,1,input_full,0,0,1,2,0,0,,,,,\r\n"
        "7,0,6,mma,role,mma_commit,764,764,0,2,,,,,,,,,,,,\r\n");
}

TEST_CASE("csv: names that hold commas, quotes and line ends come back whole", "[csv]") {
  Recorder recorder;
  const std::string name = "a \"b\", c\r\nd";
  const TrackId role = recorder.add_track(TrackKind::role, name);
  recorder.span({.begin = 1, .end = 2, .track = role, .args = {.pipeline = recorder.intern("x,y")}});
  ScratchDirectory scratch;
  write_csv(recorder.trace(), scratch / "a.csv");
  const auto rows = parse(read_whole(scratch / "a.csv"));
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[1].size() == rows[0].size());
  CHECK(rows[1][3] == name);
  CHECK(rows[1][10] == "x,y");
  CHECK(rows[1][0] == "");
}
