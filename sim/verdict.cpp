// SPDX-License-Identifier: Apache-2.0
#include "sim/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/text.h"

namespace sm100::sim {

using namespace host;

namespace {

bool found(const RunResult& result, std::string_view id) {
  return std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& f) { return f.id == id; });
}

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::clean: return "clean";
    case Verdict::findings: return "findings";
    case Verdict::incomplete: return "incomplete";
    case Verdict::error: return "error";
  }
  return "?";
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

Outcome outcome_of(RunEnd end, Comparison numbers, bool explained) {
  switch (end) {
    case RunEnd::completed: break;
    case RunEnd::violation: return Outcome::findings;
    case RunEnd::hang:
    case RunEnd::out_of_cycles: return Outcome::hang;
  }
  if (numbers != Comparison::wrong) return Outcome::pass;
  return explained ? Outcome::findings : Outcome::mismatch;
}

Verdict verdict_of(const RunResult& result) {
  if (found(result, "not-implemented")) return Verdict::error;
  if (result.outcome != Outcome::pass && !found(result, "cycle-budget")) return Verdict::findings;
  return result.not_checked.empty() ? Verdict::clean : Verdict::incomplete;
}

std::vector<std::string> parts_not_checked(const Scenario& s, const RunResult& r) {
  std::vector<std::string> parts;
  if (s.data == DataMode::none) {
    parts.push_back("results (data = \"none\")");
    parts.push_back("generic accesses to shared and global memory (data = \"none\")");
  } else if (r.outcome == Outcome::pass && r.check.rows < s.m) {
    parts.push_back(
        fmt::format("results of {} of {} rows (large problem)", grouped(s.m - r.check.rows), grouped(s.m)));
  }
  if (!s.hazards) parts.push_back("hazards (run.hazards = false)");
  if (found(r, "cycle-budget"))
    parts.push_back(fmt::format("what happens after cycle {} (run.max_cycles)", grouped(int64_t(r.cycles))));
  for (size_t i = 0; i < r.fault_matches.size(); ++i)
    if (r.fault_matches[i] == 0)
      parts.push_back(fmt::format("[[fault]] {} of {}: it matched no instruction", i + 1, r.fault_matches.size()));
  return parts;
}

}  // namespace sm100::sim
