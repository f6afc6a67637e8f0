// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/explore_json.h"

#include <fmt/format.h>

#include "sim/verdict.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

const char* word(const Failure& failure) {
  switch (failure.outcome) {
    case Outcome::mismatch: return "numbers";
    case Outcome::hang: return "hang";
    case Outcome::findings: return "finding";
    case Outcome::pass: break;
  }
  return "?";
}

Json failure_json(const Failure& failure) {
  return {{"kind", word(failure)},
          {failure.outcome == Outcome::hang ? "barrier" : "id",
           failure.outcome == Outcome::mismatch ? Json() : text_or_null(failure.name)}};
}

Json run_of(const RunResult& r) {
  return {{"outcome", name(r.outcome)},
          {"cycles", r.cycles},
          {"numbers", text_or_null(numbers_text(r))},
          {"output_hash", r.output_hash != 0 ? Json(fmt::format("{:016x}", r.output_hash)) : Json()},
          {"not_checked", r.not_checked},
          {"warnings", warning_texts(r)},
          {"report", text_or_null(r.report)}};
}

Json found_json(const FailingSeed& f, const std::string& replay) {
  Json delays = Json::array();
  for (const DelayUse& met : f.by_delays.delays)
    if (delay_at(f.delays, met.delay.point)) delays.push_back(met.text);
  const bool apart = !f.delays.empty();
  return {{"seed", f.seed},
          {"failure", failure_json(f.failure)},
          {"delays_of_the_seed", f.drawn > 0 ? Json(f.drawn) : Json()},
          {"delays", apart ? delays : Json()},
          {"minimal", apart ? Json(f.minimal) : Json()},
          {"trials", f.runs},
          {"replay", text_or_null(replay)},
          {"run", run_of(apart ? f.by_delays : f.by_seed)}};
}

}  // namespace

Json explore_json(const Scenario& s, const ExploreOptions& options, const Exploration& e,
                  const std::string& replay) {
  const Coverage& c = e.coverage;
  Json json = json_document("explore");
  json.update(Json{
      {"scenario", s.path.string()},
      {"overrides", s.overrides},
      {"profile", s.profile},
      {"first_seed", options.first_seed},
      {"result", e.plain_failure ? "fails without jitter"
                 : e.found       ? "found"
                                 : "clean"},
      {"without_jitter", run_of(e.plain)},
      {"without_jitter_failure", e.plain_failure ? failure_json(*e.plain_failure) : Json()},
      {"found", e.found ? found_json(*e.found, replay) : Json()},
      {"out_of_time", e.out_of_time},
      {"coverage",
       {{"runs", c.runs},
        {"orders", c.orders.size()},
        {"last_new_order", c.last_order},
        {"neighbours", c.pairs.size()},
        {"last_new_neighbours", c.last_pair},
        {"warnings_with_jitter_only", warnings_with_jitter_only(e)}}},
      {"configuration", Json::parse(s.configuration_json())},
      {"host",
       {{"jobs", options.jobs},
        {"seconds", e.seconds},
        {"minimise_seconds", e.found ? Json(e.found->seconds) : Json()}}},
  });
  return json;
}

}  // namespace sm100::sim::cli
