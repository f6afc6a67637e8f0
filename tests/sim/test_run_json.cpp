// SPDX-License-Identifier: Apache-2.0
// A result becomes JSON and the same result again, whatever it holds: processes send results to each other so.
#include "sim/run_json.h"

#include <cmath>

#include "catch.h"
#include "sim/child_process.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// Do not compile once there is another member: whoever adds one adds it to the JSON and to full().
[[maybe_unused]] void every_member(const RunResult& r) {
  [[maybe_unused]] const auto& [outcome, verified, check, checked_launch, output_hash, cycles, sm_clock_ghz, clock,
                                microseconds, tflops, gb_per_s, title, chosen_configuration, tensor_utilization,
                                sms_used, filled_bytes, l2_read_bytes, dram_bytes, written_bytes, ctas_launched,
                                ctas_by_clc, launches, roles, findings, warnings, notes, suspects, provenance,
                                printed, not_checked, fault_matches, unmatched_faults, unexpected, delays, drawn,
                                completion_order, completion_pairs, report, barrier_events, wall_seconds,
                                peak_rss_bytes] = r;
}
[[maybe_unused]] void every_member(const host::Check& check) {
  [[maybe_unused]] const auto& [ok, relative_error, limit, reference, rows, of_rows, wrong_element, unwritten,
                                foreign] = check;
}
[[maybe_unused]] void every_member(const ProvenanceResult& provenance) {
  [[maybe_unused]] const auto& [kept, repeated, tiles, causes, not_looked_at, report] = provenance;
}
[[maybe_unused]] void every_member(const Finding& finding) {
  [[maybe_unused]] const auto& [id, barrier, stage, phase, role, cta, location, fault_role, fault_cta,
                                fault_location, cause, message, place, fault_place] = finding;
}

/// No member has its initial value.
RunResult full() {
  RunResult r;
  r.outcome = Outcome::findings;
  r.check = {.ok = false,
             .relative_error = 0.1,
             .limit = 1e-2,
             .reference = "bits",
             .rows = 7,
             .of_rows = 9,
             .wrong_element = host::WrongElement{1, 2, 3.5, 4.5},
             .unwritten = host::Unwritten{10, 20, 1, 2, 3, 4}};
  r.checked_launch = 1, r.output_hash = 0xfedcba9876543210u, r.cycles = 1u << 31;
  r.clock = {"power", 1.5, 1.4, 1.6, 2, 1.7, 600, 700, 10, 20, 30, 40, 50, 60, 70, 3};
  r.written_bytes = 77;
  r.sm_clock_ghz = 1.85, r.microseconds = 1.0 / 3, r.tflops = 2, r.gb_per_s = 3, r.title = "2 x 2",
  r.chosen_configuration = "mma";
  r.tensor_utilization = 0.5, r.sms_used = 4, r.filled_bytes = 5, r.l2_read_bytes = 6, r.dram_bytes = 7;
  r.ctas_launched = 8, r.ctas_by_clc = 9, r.launches = {{1, 2}, {3, 0}};
  r.roles = {{"mma", 2, 30, {{"tma", 20}, {"a", 10}}}};
  r.findings = {{"MB5",
                 "input_full",
                 1,
                 2,
                 "mma",
                 3,
                 "mma_warp.h:57",
                 "load",
                 4,
                 "load_warp.h:9",
                 "cause",
                 "message",
                 {{"a/gemm.cu", 143}, {"x.ptx", 547}, {{"b/tile.h", 12}}},
                 {{}, {"x.ptx", 9}, {}}},
                {.id = "hang", .message = "\xff is no UTF-8"}};
  r.warnings = {{.id = "MB8", .message = "w"}, {.id = "MB8", .message = "w"}};
  r.provenance = {.kept = true,
                  .repeated = true,
                  .tiles = 3,
                  .causes = {{.id = "PV1", .message = "m"}},
                  .not_looked_at = {"l"},
                  .report = "p\n"};
  r.suspects = {"SM4: a load of what nobody has written  a.cu:3"};
  r.notes = {"n"}, r.printed = "p\n", r.not_checked = {"c"}, r.fault_matches = {0, 2}, r.unmatched_faults = {"f"},
  r.unexpected = "u";
  const models::Delay delay{{models::JitterSite(1), 2, 3, 4, 5}, 6};
  r.delays = {{delay, "+6 cycles"}}, r.drawn = {delay, delay};
  r.completion_order = UINT64_MAX, r.completion_pairs = {1, UINT64_MAX}, r.report = "r\n", r.barrier_events = 11;
  r.wall_seconds = 0.25, r.peak_rss_bytes = 12;
  return r;
}

RunResult sent(const RunResult& result) {
  return reply_of({0, bytes_of_run([&](Json&) { return result; }), ""}).result;
}

}  // namespace

TEST_CASE("a result that was sent is the result", "[json][process]") {
  const RunResult before = full(), after = sent(before);
  const std::vector<uint8_t> bytes = Json::to_cbor(Json(before));
  CHECK(Json::to_cbor(Json(after)) == bytes);
  // What JSON for people leaves out or derives.
  CHECK(after.outcome == Outcome::findings);
  CHECK(after.output_hash == before.output_hash);
  CHECK(after.check.text() == before.check.text());
  CHECK(after.check.unwritten->last_column == 4);
  CHECK(after.findings[0].fault_location == "load_warp.h:9");
  CHECK(after.findings[1].message == before.findings[1].message);
  CHECK(after.findings[0].place == before.findings[0].place);
  CHECK(after.findings[0].fault_place == before.findings[0].fault_place);
  CHECK(after.findings[1].stage == -1);
  CHECK(after.roles[0].waiting == before.roles[0].waiting);  // their order too
  CHECK(after.delays[0].delay == before.delays[0].delay);
  CHECK(after.drawn == before.drawn);
  CHECK(after.unexpected == "u");
  CHECK(after.microseconds == before.microseconds);
  CHECK(Json::to_cbor(Json(sent(RunResult{}))) == Json::to_cbor(Json(RunResult{})));
}

TEST_CASE("a result that was sent keeps numbers that are none", "[json][process]") {
  RunResult r;
  r.outcome = Outcome::mismatch;
  r.check.relative_error = NAN;
  r.check.wrong_element = host::WrongElement{0, 0, NAN, 1};
  CHECK(std::isnan(sent(r).check.wrong_element->value));
  CHECK(std::isnan(Json::parse(Json(r).dump()).get<RunResult>().check.relative_error));
}

TEST_CASE("a process that has no result says why", "[json][process]") {
  const auto reply = [](const std::function<RunResult(Json&)>& run) {
    return reply_of(in_child([&] { return bytes_of_run(run); }));
  };
  CHECK(reply([](Json&) -> RunResult { throw host::InputError("bad"); }).input_error == "bad");
  CHECK(reply([](Json&) -> RunResult { throw std::runtime_error("worse"); }).internal_error == "worse");
  CHECK(reply([](Json&) -> RunResult { _exit(7); }).error("it") == "it ended with exit code 7");
  CHECK(reply_of(in_child([] { return "no JSON"; })).error("it") == "it sent no result");
  CHECK(reply([](Json& beside) {
          beside = {1, 2};
          return RunResult{};
        }).beside == Json({1, 2}));
}
