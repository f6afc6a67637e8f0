// SPDX-License-Identifier: Apache-2.0
#include "sim/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/text.h"

namespace sm100::sim {

using namespace host;

namespace {

// ---------------------------------------------------------------- the judgement

/// Provenance says where numbers come from.
bool is_of_provenance(const Finding& f) { return f.id.starts_with("PV"); }

/// @param findings  that say why the numbers are wrong; where provenance alone does, they are still wrong numbers
Outcome outcome_of(RunEnd end, Comparison numbers, const std::vector<Finding>& findings) {
  switch (end) {
    case RunEnd::completed: break;
    case RunEnd::violation: return Outcome::findings;
    case RunEnd::hang:
    case RunEnd::out_of_cycles: return Outcome::hang;
  }
  if (numbers != Comparison::wrong) return findings.empty() ? Outcome::pass : Outcome::findings;
  return std::all_of(findings.begin(), findings.end(), is_of_provenance) ? Outcome::mismatch : Outcome::findings;
}

bool found(const RunResult& result, std::string_view id) {
  return std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& f) { return f.id == id; });
}

/// What the run of this scenario did not look at, one phrase each.
std::vector<std::string> parts_not_checked(const Scenario& s, const RunResult& r) {
  std::vector<std::string> parts;
  if (s.data == DataMode::none) {
    parts.push_back("results (data = \"none\")");
    parts.push_back("generic accesses to shared and global memory (data = \"none\")");
  } else if (r.outcome == Outcome::pass && r.check.rows < r.check.of_rows) {
    parts.push_back(fmt::format("results of {} of {} rows (large problem)", grouped(r.check.of_rows - r.check.rows),
                                grouped(r.check.of_rows)));
  }
  if (!s.hazards) parts.push_back("hazards (run.hazards = false)");
  if (found(r, "cycle-budget"))
    parts.push_back(fmt::format("what happens after cycle {} (run.max_cycles)", grouped(int64_t(r.cycles))));
  for (size_t i = 0; i < r.fault_matches.size(); ++i)
    if (r.fault_matches[i] == 0)
      parts.push_back(fmt::format("[[fault]] {} of {}: it matched no instruction", i + 1, r.fault_matches.size()));
  return parts;
}

/// A fault that altered nothing is probably misspelt.
std::vector<std::string> unmatched_faults(const Scenario& s, const RunResult& r) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < s.faults.size(); ++i)
    if (r.fault_matches[i] == 0 && !s.faults[i].optional) lines.push_back(s.faults[i].if_unmatched);
  return lines;
}

// ---------------------------------------------------------------- [expect]

/// A finding of "epilogue 2" is one of role "epilogue" too.
bool role_matches(const std::string& found, const std::string& wanted) {
  return found == wanted || found.rfind(wanted + " ", 0) == 0;
}

bool matches(const Finding& f, const Expectation& e) {
  return (!e.id || f.id == *e.id) && (!e.barrier || f.barrier == *e.barrier) &&
         (!e.role || role_matches(f.role, *e.role)) && (!e.stage || f.stage == *e.stage) &&
         (!e.phase || f.phase == *e.phase);
}

std::string describe(const Expectation& e) {
  std::string text;
  if (e.id) text += fmt::format(" id {}", *e.id);
  if (e.role) text += fmt::format(" role {}", *e.role);
  if (e.barrier) text += fmt::format(" barrier {}", *e.barrier);
  if (e.stage) text += fmt::format(" stage {}", *e.stage);
  if (e.phase) text += fmt::format(" phase {}", *e.phase);
  return text;
}

/// How the run differs from what [expect] states, one line; empty if it does not.
std::string difference_from(const Expectation& expect, const RunResult& r) {
  if (!expect.stated) return "";
  if (name(r.outcome) != expect.outcome)
    return fmt::format("not as expected: the scenario expects {}, the run ended in {}", expect.outcome,
                       name(r.outcome));
  const auto warns = [&](const Finding& warning) { return warning.id == *expect.warning; };
  if (expect.warning && std::none_of(r.warnings.begin(), r.warnings.end(), warns))
    return fmt::format("not as expected: no warning {}", *expect.warning);
  const std::string stated = describe(expect);
  const auto has_it = [&](const Finding& finding) { return matches(finding, expect); };
  if (stated.empty() || std::any_of(r.findings.begin(), r.findings.end(), has_it)) return "";
  return fmt::format("not as expected: no finding has{}", stated);
}

}  // namespace

void judge(const Scenario& scenario, RunEnd end, Comparison numbers, RunResult& result) {
  result.outcome = outcome_of(end, numbers, result.findings);
  result.not_checked = parts_not_checked(scenario, result);
  result.unmatched_faults = unmatched_faults(scenario, result);
  result.unexpected = difference_from(scenario.expect, result);
}

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return "pass";
    case Outcome::mismatch: return "mismatch";
    case Outcome::hang: return "hang";
    case Outcome::findings: return "findings";
  }
  return "?";
}

Outcome outcome_named(std::string_view wanted) {
  for (const Outcome outcome : {Outcome::pass, Outcome::mismatch, Outcome::hang, Outcome::findings})
    if (name(outcome) == wanted) return outcome;
  throw std::invalid_argument(fmt::format("'{}' is no outcome of a run", wanted));
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::clean: return "clean";
    case Verdict::findings: return "findings";
    case Verdict::incomplete: return "incomplete";
    case Verdict::error: return "error";
  }
  return "?";
}

Verdict verdict_of(const RunResult& result) {
  if (found(result, "not-implemented")) return Verdict::error;
  if (result.outcome != Outcome::pass && !found(result, "cycle-budget")) return Verdict::findings;
  return result.not_checked.empty() ? Verdict::clean : Verdict::incomplete;
}

bool compared(const RunResult& result) { return result.verified || result.outcome == Outcome::mismatch; }

std::string numbers_text(const RunResult& result) { return compared(result) ? result.check.text() : ""; }

const Finding* first_finding(const RunResult& result) {
  return result.findings.empty() ? nullptr : &result.findings.front();
}

std::string not_as_expected(const Expectation& expect, const RunResult& result) {
  if (expect.stated || result.outcome == Outcome::pass) return result.unexpected;
  return fmt::format("not as expected: a scenario without [expect] passes, the run ended in {}",
                     name(result.outcome));
}

ExitCode exit_code_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return kOk;
    case Outcome::mismatch: return kResultsDiffer;
    case Outcome::hang: return kHang;
    case Outcome::findings: return kFindings;
  }
  return kInternalError;
}

ExitCode exit_code_of(const RunResult& result) {
  if (!result.unmatched_faults.empty() || found(result, "not-implemented")) return kBadInput;
  return exit_code_of(result.outcome);
}

}  // namespace sm100::sim
