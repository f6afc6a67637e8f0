// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "traces/exchange/chrome_json.h"
#include "traces/sample_trace.h"

using namespace sm100;
using namespace sm100::traces;
using nlohmann::json;

namespace {

json written(const Trace& trace) {
  ScratchDirectory scratch;
  write_chrome_json(trace, scratch / "a.json");
  return json::parse(read_whole(scratch / "a.json"));
}

std::vector<json> events(const json& file, const std::string& phase, const std::string& name) {
  std::vector<json> found;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == phase && event["name"] == name) found.push_back(event);
  }
  return found;
}

}  // namespace

TEST_CASE("chrome json: spans in microseconds with their arguments", "[traces]") {
  Trace trace = sample_trace();
  trace.metadata.ticks_per_second = 2e9;  // 1 cycle = 0.5 ns
  const json file = written(trace);
  const auto issue = events(file, "X", "mma_issue");
  REQUIRE(issue.size() == 1);
  CHECK(std::abs(issue[0]["ts"].get<double>() - 0.350) < 1e-9);
  CHECK(std::abs(issue[0]["dur"].get<double>() - 0.032) < 1e-9);
  CHECK(issue[0]["cat"] == "role");
  CHECK(issue[0]["args"] == json{{"sequence", 1},
                                 {"pipeline", "input_full"},
                                 {"stage", 0},
                                 {"phase", 0},
                                 {"tile_m", 1},
                                 {"tile_n", 2},
                                 {"tile_k", 0},
                                 {"k", 0}});
  CHECK(file["otherData"]["configuration"]["stages"] == 6);
  CHECK(file["otherData"]["scenario"] == "scenarios/\"matmul\".toml");
}

TEST_CASE("chrome json: CTAs are processes, roles, units and lanes are threads", "[traces]") {
  const json file = written(sample_trace());
  std::map<std::string, json> threads;
  for (const json& event : events(file, "M", "thread_name")) threads[event["args"]["name"]] = event;
  REQUIRE(threads.count("mma"));
  REQUIRE(threads.count("tma lane 1"));
  CHECK(threads["mma"]["pid"] == threads["tma"]["pid"]);
  const auto copies = events(file, "X", "tma_load");
  REQUIRE(copies.size() == 2);
  CHECK(copies[0]["tid"] == threads["tma"]["tid"]);
  CHECK(copies[1]["tid"] == threads["tma lane 1"]["tid"]);
  bool cta = false;
  for (const json& event : events(file, "M", "process_name")) {
    cta |= event["args"]["name"] == "CTA 0" && event["pid"] == threads["mma"]["pid"];
  }
  CHECK(cta);
}

TEST_CASE("chrome json: barrier events are instants, arrows never point back", "[traces]") {
  const json file = written(sample_trace());
  const auto completions = events(file, "i", "complete_tx");
  REQUIRE(completions.size() == 2);
  CHECK(completions[0]["args"] ==
        json{{"phase", 0}, {"pending", 0}, {"tx", 16384}, {"amount", 16384}, {"actor", "tma"}});
  const auto sources = events(file, "s", "flow"), ends = events(file, "f", "flow");
  REQUIRE(sources.size() == 2);
  REQUIRE(ends.size() == 1);
  CHECK(ends[0]["id"] == sources[0]["id"]);
  CHECK(ends[0]["ts"].get<double>() >= sources[0]["ts"].get<double>());
}

TEST_CASE("chrome json: findings are instants with their report, tensor memory has its columns", "[traces]") {
  const json file = written(sample_trace());
  const auto findings = events(file, "i", "finding");
  REQUIRE(findings.size() == 2);
  CHECK(findings[1]["args"] == json{{"id", "hang"},
                                    {"warning", false},
                                    {"message", "can never wake"},
                                    {"report", "HANG at cycle 764:\n  \"mma\"\n"}});
  const auto held = events(file, "X", "tmem_alloc");
  REQUIRE(held.size() == 1);
  CHECK(held[0]["args"] == json{{"sequence", 0}, {"column", 0}, {"columns", 512}});
}

TEST_CASE("chrome json: nothing is left behind when it cannot be written", "[traces]") {
  ScratchDirectory scratch;
  CHECK_THROWS_AS(write_chrome_json(sample_trace(), scratch / "missing/a.json"), std::runtime_error);
  Trace timeless = sample_trace();
  timeless.metadata.ticks_per_second = 0;
  CHECK_THROWS_AS(write_chrome_json(timeless, scratch / "a.json"), std::runtime_error);
  CHECK(std::filesystem::is_empty(scratch.path()));
}
