// SPDX-License-Identifier: Apache-2.0
// What a run means: how it ended and what was compared, against outcome, verdict, [expect] and exit code.
#include "sim/verdict.h"

#include "catch.h"

using namespace sm100::sim;
namespace host = sm100::host;

namespace {

Finding finding(const char* id, const char* barrier = "", const char* role = "") {
  return {.id = id, .barrier = barrier, .role = role};
}

host::Scenario scenario(const char* expected_outcome = "") {
  host::Scenario s;
  s.hazards = true;
  s.expect.stated = *expected_outcome != 0;
  if (s.expect.stated) s.expect.outcome = expected_outcome;
  return s;
}

RunResult judged(const host::Scenario& s, RunEnd end, Comparison numbers, std::vector<Finding> findings = {}) {
  RunResult r;
  r.findings = std::move(findings);
  r.verified = numbers == Comparison::right;
  r.check.rows = r.check.of_rows = 128;
  judge(s, end, numbers, r);
  return r;
}

}  // namespace

TEST_CASE("verdict: every end of a run has its outcome, verdict and exit code", "[verdict]") {
  const struct {
    const char* what;
    RunEnd end;
    Comparison numbers;
    std::vector<Finding> findings;
    Outcome outcome;
    Verdict verdict;
    ExitCode exit_code;
    bool compared;
  } rows[] = {
      {"right", RunEnd::completed, Comparison::right, {}, Outcome::pass, Verdict::clean, kOk, true},
      {"nothing to compare", RunEnd::completed, Comparison::none, {}, Outcome::pass, Verdict::clean, kOk, false},
      {"wrong",
       RunEnd::completed,
       Comparison::wrong,
       {},
       Outcome::mismatch,
       Verdict::findings,
       kResultsDiffer,
       true},
      {"explained",
       RunEnd::completed,
       Comparison::wrong,
       {finding("GM4")},
       Outcome::findings,
       Verdict::findings,
       kFindings,
       false},
      {"violation",
       RunEnd::violation,
       Comparison::none,
       {finding("MB5")},
       Outcome::findings,
       Verdict::findings,
       kFindings,
       false},
      {"lacking instruction",
       RunEnd::violation,
       Comparison::none,
       {finding("not-implemented")},
       Outcome::findings,
       Verdict::error,
       kBadInput,
       false},
      {"hang", RunEnd::hang, Comparison::none, {finding("hang")}, Outcome::hang, Verdict::findings, kHang, false},
      {"budget",
       RunEnd::out_of_cycles,
       Comparison::none,
       {finding("cycle-budget")},
       Outcome::hang,
       Verdict::incomplete,
       kHang,
       false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    const RunResult r = judged(scenario(), row.end, row.numbers, row.findings);
    CHECK(r.outcome == row.outcome);
    CHECK(verdict_of(r) == row.verdict);
    CHECK(exit_code_of(r) == row.exit_code);
    CHECK(compared(r) == row.compared);
    CHECK(numbers_text(r).empty() == !row.compared);
    CHECK(outcome_named(name(r.outcome)) == r.outcome);
  }
  CHECK_THROWS_AS(outcome_named("?"), std::invalid_argument);
}

TEST_CASE("verdict: what was not looked at makes it incomplete, and a fault that matched nothing bad input",
          "[verdict]") {
  host::Scenario s = scenario();
  s.hazards = false;
  CHECK(verdict_of(judged(s, RunEnd::completed, Comparison::right)) == Verdict::incomplete);
  s.faults.resize(1);
  s.faults[0].if_unmatched = "it matched nothing";
  RunResult r;
  r.fault_matches = {0}, r.check.of_rows = 128;
  r.verified = true;
  judge(s, RunEnd::completed, Comparison::right, r);
  CHECK(r.outcome == Outcome::pass);
  CHECK(r.unmatched_faults == std::vector<std::string>{"it matched nothing"});
  CHECK(exit_code_of(r) == kBadInput);
  s.faults[0].optional = true;
  judge(s, RunEnd::completed, Comparison::right, r);
  CHECK(r.unmatched_faults.empty());
  CHECK(exit_code_of(r) == kOk);
  CHECK(r.not_checked.size() == 3);  // rows, hazards, the fault
}

TEST_CASE("verdict: a run against what its scenario expects", "[verdict]") {
  const std::vector<Finding> found = {finding("hang", "input_full", "epilogue 2")};
  host::Scenario s = scenario("hang");
  const auto differs = [&] {
    const RunResult r = judged(s, RunEnd::hang, Comparison::none, found);
    CHECK(not_as_expected(s.expect, r) == r.unexpected);
    return r.unexpected;
  };
  CHECK(differs() == "");
  s.expect.role = "epilogue";
  CHECK(differs() == "");
  s.expect.barrier = "input_empty";
  CHECK(differs() == "not as expected: no finding has role epilogue barrier input_empty");
  s.expect.warning = "MB8";
  CHECK(differs() == "not as expected: no warning MB8");
  s.expect.outcome = "pass";
  CHECK(differs() == "not as expected: the scenario expects pass, the run ended in hang");
  // Without [expect] `run` lets a run end in any way; `check` wants it to pass.
  s.expect = {};
  const RunResult r = judged(s, RunEnd::hang, Comparison::none, found);
  CHECK(r.unexpected == "");
  CHECK(not_as_expected(s.expect, r) ==
        "not as expected: a scenario without [expect] passes, the run ended in hang");
  CHECK(not_as_expected(s.expect, judged(s, RunEnd::completed, Comparison::right)) == "");
}
