// SPDX-License-Identifier: Apache-2.0
// What sm100sim exec writes beside its lines: JSON, SARIF, a trace, a page.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "exec_paths.h"
#include "exec_program.h"
#include "traces/format/pftrace.h"

using namespace sm100;
using namespace sm100::sim;
using nlohmann::json;

namespace {

Ran exec(const ScratchDirectory& folder, const std::string& options, const std::string& what) {
  return run(folder, "exec --sms 2 " + options + " " + SM100_EXEC_PROGRAM + " " + what);
}

json read_json(const std::filesystem::path& path) { return json::parse(read_whole(path)); }

const traces::Track* find_track(const traces::Trace& trace, const std::string& name) {
  for (const traces::Track& track : trace.tracks)
    if (track.name == name) return &track;
  return nullptr;
}

std::vector<std::string> host_spans(const traces::Trace& trace) {
  const traces::Track* const host = find_track(trace, "host");
  std::vector<std::string> names;
  for (const traces::Span& span : trace.spans)
    if (host && span.track == host->id) names.push_back(trace.names[size_t(span.args.pipeline)]);
  return names;
}

}  // namespace

TEST_CASE("exec: --json has every launch") {
  const ScratchDirectory folder;
  REQUIRE(exec(folder, "--json all.json", "add").exit_code == 0);
  const json all = read_json(folder / "all.json");
  CHECK(all["schema"] == "sm100sim.exec");
  REQUIRE(all["launches"].size() == 1);
  CHECK(all["launches"][0]["entry"] == "add");
  CHECK(all["launches"][0]["carried_out"] == true);
  CHECK(all["launches"][0]["result"]["cycles"] > 0);
  CHECK(all["simulated_nanoseconds"] > 0);
  REQUIRE(all["measured_nanoseconds"].size() == 1);
  CHECK(all["measured_nanoseconds"][0] == all["simulated_nanoseconds"]);
  CHECK(all["sentences"].empty());
}

TEST_CASE("exec: --json has the sentences that were said") {
  const ScratchDirectory folder;
  REQUIRE(exec(folder, "--json all.json", "refused").exit_code == 0);
  CHECK(read_json(folder / "all.json")["sentences"] == json::array({"not implemented: cudaArrayGetInfo"}));
}

TEST_CASE("exec: --sarif has a hang as a result with its rule, its level and its place") {
  const ScratchDirectory folder;
  CHECK(exec(folder, "--sarif all.sarif", "hang").exit_code == 3);
  const json all = read_json(folder / "all.sarif");
  CHECK(all["version"] == "2.1.0");
  CHECK(all["$schema"].is_string());
  REQUIRE(all["runs"].size() == 1);
  const json& of_run = all["runs"][0];
  CHECK(of_run["tool"]["driver"]["name"] == "sm100sim");
  CHECK(of_run["invocations"][0]["exitCode"] == 3);
  CHECK(of_run["invocations"][0]["executionSuccessful"] == false);
  const json* hang = nullptr;
  for (const json& result : of_run["results"])
    if (result["ruleId"] == "hang") hang = &result;
  REQUIRE(hang);
  CHECK((*hang)["level"] == "error");
  CHECK(contains((*hang)["message"]["text"], "launch 1: hang, grid 1 of 64 threads: "));
  const json& place = (*hang)["locations"][0]["physicalLocation"];
  CHECK(contains(place["artifactLocation"]["uri"], "exec_program.ptx"));
  CHECK(place["region"]["startLine"] > 0);
  const json& rules = of_run["tool"]["driver"]["rules"];
  for (const json& result : of_run["results"])
    CHECK(
        std::any_of(rules.begin(), rules.end(), [&](const json& rule) { return rule["id"] == result["ruleId"]; }));
}

TEST_CASE("exec: --sarif of a program without findings has no results, and of one that cannot run its sentence") {
  const ScratchDirectory folder;
  CHECK(exec(folder, "--sarif clean.sarif", "copies").exit_code == 0);
  CHECK(read_json(folder / "clean.sarif")["runs"][0]["results"].empty());
  CHECK(exec(folder, "--sarif old.sarif", "old").exit_code == 2);
  const json results = read_json(folder / "old.sarif")["runs"][0]["results"];
  REQUIRE(results.size() == 1);
  CHECK(results[0]["ruleId"] == "exec");
  CHECK(contains(results[0]["message"]["text"], "the program has PTX for sm_90a"));
}

TEST_CASE("exec: --trace has launches and calls on one timeline") {
  const ScratchDirectory folder;
  REQUIRE(exec(folder, "--trace all.pftrace --html all.html", "copies").exit_code == 0);
  const traces::Trace trace = traces::read_pftrace(folder / "all.pftrace");
  CHECK(trace.metadata.outcome == "pass");
  const std::vector<std::string> host = host_spans(trace);
  REQUIRE(host.size() ==
          3 * 12 + 12 + 2);  // copies there and back, the call of a launch and the launch, allocations
  CHECK(host[0] == "cudaMalloc");
  CHECK(host[2] == "cudaMemcpy");
  CHECK(host[3] == "cudaLaunchKernel");
  CHECK(host[4] == "launch 1: copy, grid 1 of 64 threads");
  REQUIRE(find_track(trace, "CTA 0 (launch 1) on SM 0"));
  const traces::Track* const last = find_track(trace, "CTA 11 (launch 12) on SM 0");
  REQUIRE(last);
  uint64_t begin = UINT64_MAX, end = 0;
  for (const traces::Span& span : trace.spans) {
    if (trace.tracks[span.track].cta != last->cta) continue;
    begin = std::min(begin, span.begin), end = std::max(end, span.end);
  }
  CHECK(begin >= trace.metadata.run_ticks / 12 * 11);
  CHECK(end <= trace.metadata.run_ticks);
  CHECK(contains(read_whole(folder / "all.html"), "</html>"));
  const Ran stats = run(folder, "stats all.pftrace");
  INFO(stats.err);
  CHECK(stats.exit_code == 0);
}

TEST_CASE("exec: --trace of a program that hangs has the finding") {
  const ScratchDirectory folder;
  CHECK(exec(folder, "--trace all.pftrace", "hang").exit_code == 3);
  const traces::Trace trace = traces::read_pftrace(folder / "all.pftrace");
  CHECK(trace.metadata.outcome == "hang");
  REQUIRE(trace.findings.size() == 1);
  CHECK(trace.findings[0].id == "hang");
}

TEST_CASE("exec: files that cannot be written are refused before the program starts") {
  const ScratchDirectory folder;
  for (const char* const option : {"--json", "--sarif", "--trace", "--html"}) {
    INFO(option);
    const Ran ran = exec(folder, std::string(option) + " nowhere/file", "add");
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, option));
  }
  CHECK(contains(exec(folder, "--sarif -", "add").err, "--sarif -: standard output is the program's"));
}

TEST_CASE("exec: --progress says how far a launch is") {
  const ScratchDirectory folder;
  const Ran ran = exec(folder, "--progress", "copies");
  CHECK(ran.exit_code == 0);  // how much of it is seen depends on the machine
}
