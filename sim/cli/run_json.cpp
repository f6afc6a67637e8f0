// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/cli/summary.h"
#include "sim/verdict.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

/// What makes a finding another one.
auto kind_of(const Finding& f) {
  return std::tie(f.id, f.barrier, f.role, f.location, f.fault_role, f.fault_location);
}

Json finding_json(const Finding& f, uint64_t count) {
  return {{"id", f.id},
          {"count", count},
          {"barrier", text_or_null(f.barrier)},
          {"stage", number_or_null(f.stage)},
          {"phase", number_or_null(f.phase)},
          {"role", text_or_null(f.role)},
          {"cta", number_or_null(f.cta)},
          {"location", text_or_null(f.location)},
          {"fault_role", text_or_null(f.fault_role)},
          {"fault_cta", number_or_null(f.fault_cta)},
          {"fault_location", text_or_null(f.fault_location)},
          {"cause", text_or_null(f.cause)},
          {"message", f.message}};
}

Json roles_json(const std::vector<RoleTime>& roles) {
  Json array = Json::array();
  for (const RoleTime& role : roles) {
    Json waiting = Json::object();
    for (const auto& [what, cycles] : role.waiting) waiting[what] = cycles;
    array.push_back({{"role", role.role},
                     {"warps", role.warps},
                     {"total_cycles", role.total_cycles},
                     {"waiting_cycles", waiting}});
  }
  return array;
}

/// null where it does not apply: before a launch has completed, without data, for a kernel that only moves data.
Json positive_or_null(double value) { return value > 0 ? Json(value) : Json(); }

}  // namespace

Json findings_json(const std::vector<Finding>& findings) {
  std::vector<std::pair<const Finding*, uint64_t>> distinct;
  for (const Finding& f : findings) {
    const auto known = std::find_if(distinct.begin(), distinct.end(),
                                    [&](const auto& entry) { return kind_of(*entry.first) == kind_of(f); });
    if (known != distinct.end())
      ++known->second;
    else
      distinct.push_back({&f, 1});
  }
  Json array = Json::array();
  for (const auto& [finding, count] : distinct) array.push_back(finding_json(*finding, count));
  return array;
}

Json run_json(const Scenario& s, const RunResult& r) {
  Json launches = Json::array();
  for (const LaunchTime& t : r.launches)
    launches.push_back({{"begin", t.begin}, {"end", t.end > t.begin ? Json(t.end) : Json()}});
  Json delays = Json::array();
  for (const DelayUse& use : r.delays) delays.push_back(use.text);
  const bool compared = r.verified || r.outcome == Outcome::mismatch;
  Json json = json_document("run");
  json.update(Json{
      {"scenario", s.path.string()},
      {"overrides", s.overrides},
      {"profile", s.profile},
      {"data", s.data == DataMode::full ? "full" : "none"},
      {"seed", s.seed},
      {"jitter", s.jitter ? Json(*s.jitter) : Json()},
      {"outcome", outcome_word(r.outcome)},
      {"verdict", name(verdict_of(r))},
      {"not_checked", r.not_checked},
      {"as_expected", expectation_difference(s, r).empty()},
      {"verified", compared ? Json(r.verified) : Json()},
      {"output_hash", r.output_hash != 0 ? Json(fmt::format("{:016x}", r.output_hash)) : Json()},
      {"relative_error", compared ? Json(r.check.relative_error) : Json()},
      {"error_limit", compared ? Json(r.check.limit) : Json()},
      {"cycles", r.cycles},
      {"sm_clock_ghz", r.sm_clock_ghz},
      {"microseconds", r.microseconds},
      {"tflops", positive_or_null(r.tflops)},
      {"gb_per_s", positive_or_null(r.gb_per_s)},
      {"tensor_utilization", r.tensor_utilization},
      {"sms_used", r.sms_used},
      {"filled_bytes", r.filled_bytes},
      {"l2_read_bytes", r.l2_read_bytes},
      {"dram_bytes", r.dram_bytes},
      {"ctas_launched", r.ctas_launched},
      {"ctas_by_clc", r.ctas_by_clc},
      {"launches", launches},
      {"notes", r.notes},
      {"findings", findings_json(r.findings)},
      {"warnings", findings_json(r.warnings)},
      {"fault_matches", r.fault_matches},
      {"delays", delays},
      {"roles", roles_json(r.roles)},
      {"barrier_events", r.barrier_events},
      {"configuration", Json::parse(s.configuration_json())},
      {"host", {{"wall_seconds", r.wall_seconds}, {"peak_rss_bytes", r.peak_rss_bytes}}},
  });
  return json;
}

}  // namespace sm100::sim::cli
