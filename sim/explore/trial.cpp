// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/trial.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sm100::sim {

using Json = nlohmann::json;

namespace {

Json to_json(const std::vector<models::Delay>& delays) {
  Json array = Json::array();
  for (const models::Delay& d : delays)
    array.push_back({int(d.point.site), d.point.cta, d.point.warp, d.point.to, d.point.occurrence, d.cycles});
  return array;
}

std::vector<models::Delay> delays_of(const Json& array) {
  std::vector<models::Delay> delays;
  for (const Json& d : array) delays.push_back({{models::JitterSite(int(d[0])), d[1], d[2], d[3], d[4]}, d[5]});
  return delays;
}

std::string bytes_of(const Json& json) {
  const std::vector<uint8_t> cbor = Json::to_cbor(json);
  return {cbor.begin(), cbor.end()};
}

Json ran(const host::Scenario& scenario, const Prepared& prepared, const Trial& trial) {
  const RunResult run =
      run_simulation(scenario, {.prepared = &prepared, .record_delays = trial.record});
  Json warnings = Json::array(), met = Json::array();
  for (const Finding& w : run.warnings) warnings.push_back(fmt::format("{}: {}", w.id, w.message));
  std::vector<models::Delay> met_delays;
  for (const DelayUse& use : run.delays) met_delays.push_back(use.delay), met.push_back(use.text);
  Json unmatched = Json::array();
  for (size_t i = 0; i < scenario.faults.size(); ++i)
    if (run.fault_matches[i] == 0 && !scenario.faults[i].optional)
      unmatched.push_back(scenario.faults[i].if_unmatched);
  const bool found = !run.findings.empty();
  return {{"outcome", int(run.outcome)},
          {"id", found ? run.findings.front().id : ""},
          {"barrier", found ? run.findings.front().barrier : ""},
          {"report", run.report},
          {"title", run.title},
          {"check", run.verified || run.outcome == Outcome::mismatch ? run.check.text() : ""},
          {"sms", run.sms_used},
          {"cycles", run.cycles},
          {"output", run.output_hash},
          {"order", run.completion_order},
          {"pairs", run.completion_pairs},
          {"ok", run.check.ok},
          {"error", run.check.relative_error},
          {"limit", run.check.limit},
          {"reference", run.check.reference},
          {"rows", run.check.rows},
          {"warnings", warnings},
          {"drawn", to_json(run.drawn)},
          {"met", to_json(met_delays)},
          {"met_texts", met},
          {"not_checked", run.not_checked},
          {"unmatched_faults", unmatched}};
}

}  // namespace

std::string run_trial(const host::Scenario& scenario, const Prepared& prepared, const Trial& trial) {
  try {
    host::Scenario s = scenario;
    if (trial.seed) {
      s.jitter = trial.seed;
      s.overrides.push_back(fmt::format("run.jitter={}", *trial.seed));  // for the report's replay line
    }
    for (const models::Delay& d : trial.delays) s.delays.push_back({d, ""});
    return bytes_of(ran(s, prepared, trial));
  } catch (const host::InputError& error) {
    return bytes_of({{"input_error", error.what()}});
  } catch (const std::exception& error) { return bytes_of({{"internal_error", error.what()}}); }
}

TrialResult decode_trial(const std::string& bytes, const std::string& died) {
  TrialResult r;
  if (!died.empty()) {
    r.internal_error = fmt::format("the run's process ended with {}", died);
    return r;
  }
  const Json json = Json::from_cbor(bytes, true, false);
  if (json.is_discarded()) {
    r.internal_error = "the run's process sent no result";
    return r;
  }
  r.input_error = json.value("input_error", "");
  r.internal_error = json.value("internal_error", "");
  if (!r.input_error.empty() || !r.internal_error.empty()) return r;
  r.outcome = Outcome(int(json["outcome"]));
  r.id = json["id"], r.barrier = json["barrier"], r.report = json["report"];
  r.title = json["title"], r.check = json["check"], r.sms = json["sms"];
  r.cycles = json["cycles"], r.output_hash = json["output"], r.order = json["order"];
  r.numbers.ok = json["ok"], r.numbers.relative_error = json["error"], r.numbers.limit = json["limit"];
  r.numbers.reference = json["reference"], r.numbers.rows = json["rows"];
  r.pairs = json["pairs"].get<std::vector<uint64_t>>();
  r.warnings = json["warnings"].get<std::vector<std::string>>();
  r.drawn = delays_of(json["drawn"]), r.met = delays_of(json["met"]);
  r.met_texts = json["met_texts"].get<std::vector<std::string>>();
  r.not_checked = json["not_checked"].get<std::vector<std::string>>();
  r.unmatched_faults = json["unmatched_faults"].get<std::vector<std::string>>();
  return r;
}

std::optional<Failure> failure_of(const TrialResult& result, uint64_t right_output) {
  switch (result.outcome) {
    case Outcome::findings: return Failure{Failure::Kind::finding, result.id};
    case Outcome::hang: return Failure{Failure::Kind::hang, result.barrier};
    case Outcome::mismatch: return Failure{Failure::Kind::numbers, ""};
    case Outcome::pass: break;
  }
  if (result.output_hash != right_output) return Failure{Failure::Kind::numbers, ""};
  return std::nullopt;
}

std::string text_of(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::numbers: return "wrong numbers";
    case Failure::Kind::hang: return failure.name.empty() ? "a hang" : "a hang at " + failure.name;
    case Failure::Kind::finding: return "finding " + failure.name;
  }
  return "?";
}

}  // namespace sm100::sim
