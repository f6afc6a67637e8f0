// SPDX-License-Identifier: Apache-2.0
#include "sim/run_json.h"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "sim/verdict.h"

namespace sm100::sim {
namespace {

// ---------------------------------------------------------------- null: what does not apply

/// Before a launch has completed, without data, for a kernel that only moves data.
Json positive_or_null(double value) { return value > 0 ? Json(value) : Json(); }

template <class T>
T value_or(const Json& json, T otherwise) {
  return json.is_null() ? otherwise : json.get<T>();
}
std::string text_of(const Json& json) { return value_or<std::string>(json, ""); }
int number_of(const Json& json) { return value_or(json, -1); }
/// JSON as text has no NaN.
double value_of(const Json& json) { return value_or(json, std::numeric_limits<double>::quiet_NaN()); }

template <class T, class OneJson>
Json array_of(const std::vector<T>& values, OneJson json_of) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(json_of(value));
  return array;
}

// ---------------------------------------------------------------- the parts of a result

Json launch_json(const LaunchTime& t) {
  Json json = Json::object();
  if (!t.name.empty())
    json = {{"name", t.name}, {"kernel", t.kernel}, {"stream", t.stream}, {"outcome", t.outcome}};
  json["begin"] = t.started() ? Json(t.begin) : Json();
  json["end"] = t.end > t.begin ? Json(t.end) : Json();
  return json;
}
LaunchTime launch_of(const Json& json) {
  LaunchTime t{.begin = value_or<uint64_t>(json.at("begin"), 0), .end = value_or<uint64_t>(json.at("end"), 0)};
  if (json.contains("name")) {
    json.at("name").get_to(t.name);
    json.at("kernel").get_to(t.kernel);
    json.at("stream").get_to(t.stream);
    json.at("outcome").get_to(t.outcome);
  }
  return t;
}

Json role_json(const RoleTime& role) {
  Json waiting = Json::object();
  for (const auto& [what, cycles] : role.waiting) waiting[what] = cycles;
  return {
      {"role", role.role}, {"warps", role.warps}, {"total_cycles", role.total_cycles}, {"waiting_cycles", waiting}};
}
RoleTime role_of(const Json& json) {
  RoleTime role{.role = json.at("role"), .warps = json.at("warps"), .total_cycles = json.at("total_cycles")};
  for (const auto& [what, cycles] : json.at("waiting_cycles").items()) role.waiting.emplace_back(what, cycles);
  return role;
}

Json delay_json(const models::Delay& d) {
  return {int(d.point.site), d.point.cta, d.point.warp, d.point.to, d.point.occurrence, d.cycles};
}
models::Delay delay_of(const Json& d) { return {{models::JitterSite(int(d[0])), d[1], d[2], d[3], d[4]}, d[5]}; }

Json wrong_element_json(const std::optional<host::WrongElement>& e) {
  return e ? Json{{"row", e->row}, {"column", e->column}, {"value", e->value}, {"expected", e->expected}} : Json();
}
std::optional<host::WrongElement> wrong_element_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return host::WrongElement{json.at("row"), json.at("column"), value_of(json.at("value")),
                            value_of(json.at("expected"))};
}

Json unwritten_json(const std::optional<host::Unwritten>& u) {
  return u ? Json{{"elements", u->elements},
                  {"of", u->of},
                  {"rows", {u->first_row, u->last_row}},
                  {"columns", {u->first_column, u->last_column}}}
           : Json();
}
std::optional<host::Unwritten> unwritten_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  const Json &rows = json.at("rows"), &columns = json.at("columns");
  return host::Unwritten{json.at("elements"), json.at("of"), rows[0], rows[1], columns[0], columns[1]};
}

Json check_json(const host::Check& check) {
  Json json = {{"ok", check.ok},
               {"relative_error", check.relative_error},
               {"limit", check.limit},
               {"reference", check.reference},
               {"rows", check.rows},
               {"of_rows", check.of_rows},
               {"wrong_element", wrong_element_json(check.wrong_element)},
               {"unwritten", unwritten_json(check.unwritten)}};
  if (check.foreign) json["foreign"] = unwritten_json(check.foreign);
  return json;
}
host::Check check_of(const Json& json) {
  return {.ok = json.at("ok"),
          .relative_error = value_of(json.at("relative_error")),
          .limit = json.at("limit"),
          .reference = json.at("reference"),
          .rows = json.at("rows"),
          .of_rows = json.at("of_rows"),
          .wrong_element = wrong_element_of(json.at("wrong_element")),
          .unwritten = unwritten_of(json.at("unwritten")),
          .foreign = json.contains("foreign") ? unwritten_of(json.at("foreign")) : std::nullopt};
}

/// "0123456789abcdef"; null: there is no output.
Json hash_json(uint64_t hash) { return hash != 0 ? Json(fmt::format("{:016x}", hash)) : Json(); }
uint64_t hash_of(const Json& json) {
  return json.is_null() ? 0 : std::stoull(json.get<std::string>(), nullptr, 16);
}

// ---------------------------------------------------------------- a result by what the keys are about

void add_verdict(Json& json, const RunResult& r) {
  json["outcome"] = name(r.outcome);
  json["verdict"] = name(verdict_of(r));
  json["not_checked"] = r.not_checked;
  json["as_expected"] = r.unexpected.empty();
  json["verified"] = compared(r) ? Json(r.verified) : Json();
  json["output_hash"] = hash_json(r.output_hash);
  json["relative_error"] = compared(r) ? Json(r.check.relative_error) : Json();
  json["error_limit"] = compared(r) ? Json(r.check.limit) : Json();
}
void read_verdict(const Json& json, RunResult& r) {
  r.outcome = outcome_named(json.at("outcome").get<std::string>());
  json.at("not_checked").get_to(r.not_checked);
  r.verified = value_or(json.at("verified"), false);
  r.output_hash = hash_of(json.at("output_hash"));
}

/// The members of a clock that was found, by their keys.
template <class Clock, class F>
void for_each_part(Clock& clock, F&& f) {
  f("ghz", clock.ghz), f("low_ghz", clock.low_ghz), f("high_ghz", clock.high_ghz), f("full_ghz", clock.full_ghz),
      f("nominal_ghz", clock.nominal_ghz), f("watts", clock.watts), f("limit_watts", clock.limit_watts),
      f("idle_watts", clock.idle_watts), f("sm_watts", clock.sm_watts), f("tensor_watts", clock.tensor_watts),
      f("l2_watts", clock.l2_watts), f("store_watts", clock.store_watts), f("dram_watts", clock.dram_watts),
      f("lost_watts", clock.lost_watts), f("runs", clock.runs);
}
Json clock_json(const ClockResult& clock) {
  if (clock.mode.empty()) return Json();
  Json json = {{"mode", clock.mode}};
  for_each_part(clock, [&](const char* key, const auto& value) { json[key] = value; });
  return json;
}
ClockResult clock_of(const Json& json) {
  ClockResult clock;
  if (json.is_null()) return clock;
  json.at("mode").get_to(clock.mode);
  for_each_part(clock, [&](const char* key, auto& value) { json.at(key).get_to(value); });
  return clock;
}

void add_figures(Json& json, const RunResult& r) {
  json["cycles"] = r.cycles;
  json["sm_clock_ghz"] = r.sm_clock_ghz;
  json["microseconds"] = r.microseconds;
  json["clock"] = clock_json(r.clock);
  json["tflops"] = positive_or_null(r.tflops);
  json["gb_per_s"] = positive_or_null(r.gb_per_s);
  json["tensor_utilization"] = r.tensor_utilization;
  json["sms_used"] = r.sms_used;
  json["filled_bytes"] = r.filled_bytes;
  json["l2_read_bytes"] = r.l2_read_bytes;
  json["dram_bytes"] = r.dram_bytes;
  json["written_bytes"] = r.written_bytes;
  json["ctas_launched"] = r.ctas_launched;
  json["ctas_by_clc"] = r.ctas_by_clc;
  json["launches"] = array_of(r.launches, launch_json);
}
void read_figures(const Json& json, RunResult& r) {
  json.at("cycles").get_to(r.cycles);
  json.at("sm_clock_ghz").get_to(r.sm_clock_ghz);
  json.at("microseconds").get_to(r.microseconds);
  r.clock = clock_of(json.at("clock"));
  r.tflops = value_or(json.at("tflops"), 0.0);
  r.gb_per_s = value_or(json.at("gb_per_s"), 0.0);
  json.at("tensor_utilization").get_to(r.tensor_utilization);
  json.at("sms_used").get_to(r.sms_used);
  json.at("filled_bytes").get_to(r.filled_bytes);
  json.at("l2_read_bytes").get_to(r.l2_read_bytes);
  json.at("dram_bytes").get_to(r.dram_bytes);
  json.at("written_bytes").get_to(r.written_bytes);
  json.at("ctas_launched").get_to(r.ctas_launched);
  json.at("ctas_by_clc").get_to(r.ctas_by_clc);
  for (const Json& launch : json.at("launches")) r.launches.push_back(launch_of(launch));
}

void add_findings(Json& json, const RunResult& r) {
  json["notes"] = r.notes;
  if (!r.suspects.empty()) json["suspects"] = r.suspects;
  if (!r.printed.empty()) json["printed"] = r.printed;
  json["findings"] = r.findings;
  json["warnings"] = r.warnings;
  json["fault_matches"] = r.fault_matches;
  json["delays"] = array_of(r.delays, [](const DelayUse& use) { return Json(use.text); });
  json["roles"] = array_of(r.roles, role_json);
  json["barrier_events"] = r.barrier_events;
}
void read_findings(const Json& json, RunResult& r) {
  json.at("notes").get_to(r.notes);
  r.suspects = json.value("suspects", r.suspects);
  r.printed = json.value("printed", "");
  json.at("findings").get_to(r.findings);
  json.at("warnings").get_to(r.warnings);
  json.at("fault_matches").get_to(r.fault_matches);
  for (const Json& text : json.at("delays")) r.delays.push_back({{}, text});
  for (const Json& role : json.at("roles")) r.roles.push_back(role_of(role));
  json.at("barrier_events").get_to(r.barrier_events);
}

/// What `run --json` does not show.
Json details_json(const RunResult& r) {
  return {{"title", r.title},
          {"chosen_configuration", r.chosen_configuration},
          {"report", r.report},
          {"check", check_json(r.check)},
          {"checked_launch", r.checked_launch},
          {"unexpected", r.unexpected},
          {"unmatched_faults", r.unmatched_faults},
          {"delays", array_of(r.delays, [](const DelayUse& use) { return delay_json(use.delay); })},
          {"drawn", array_of(r.drawn, delay_json)},
          {"completion_order", r.completion_order},
          {"completion_pairs", r.completion_pairs}};
}
/// After read_findings.
void read_details(const Json& json, RunResult& r) {
  json.at("title").get_to(r.title);
  json.at("chosen_configuration").get_to(r.chosen_configuration);
  json.at("report").get_to(r.report);
  r.check = check_of(json.at("check"));
  json.at("checked_launch").get_to(r.checked_launch);
  json.at("unexpected").get_to(r.unexpected);
  json.at("unmatched_faults").get_to(r.unmatched_faults);
  for (size_t i = 0; i < r.delays.size(); ++i) r.delays[i].delay = delay_of(json.at("delays").at(i));
  for (const Json& delay : json.at("drawn")) r.drawn.push_back(delay_of(delay));
  json.at("completion_order").get_to(r.completion_order);
  json.at("completion_pairs").get_to(r.completion_pairs);
}

}  // namespace

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }
Json number_or_null(int64_t value) { return value < 0 ? Json() : Json(value); }

namespace {

Json source_json(const SourceLine& at) { return {{"file", at.file}, {"line", at.line}}; }
SourceLine source_of(const Json& json) { return {json.at("file"), json.at("line")}; }

/// null: it is no place in PTX.
Json place_json(const CompiledPlace& place) {
  if (place.ptx.line == 0) return {};
  return {{"file", text_or_null(place.source.file)},
          {"line", place.source.line > 0 ? Json(place.source.line) : Json()},
          {"ptx_file", place.ptx.file},
          {"ptx_line", place.ptx.line},
          {"inlined_at", array_of(place.inlined_at, source_json)},
          {"telling", place.telling}};
}
CompiledPlace place_of(const Json& json) {
  if (json.is_null()) return {};
  CompiledPlace place{.source = {text_of(json.at("file")), value_or(json.at("line"), 0u)},
                      .ptx = {json.at("ptx_file"), json.at("ptx_line")}};
  for (const Json& call : json.at("inlined_at")) place.inlined_at.push_back(source_of(call));
  place.telling = json.at("telling");
  return place;
}

}  // namespace

void to_json(Json& json, const Finding& f) {
  json = {{"id", f.id},
          {"count", 1},
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
          {"message", f.message},
          {"place", place_json(f.place)},
          {"fault_place", place_json(f.fault_place)}};
}

void from_json(const Json& json, Finding& f) {
  f = {.id = json.at("id"),
       .barrier = text_of(json.at("barrier")),
       .stage = number_of(json.at("stage")),
       .phase = number_of(json.at("phase")),
       .role = text_of(json.at("role")),
       .cta = number_of(json.at("cta")),
       .location = text_of(json.at("location")),
       .fault_role = text_of(json.at("fault_role")),
       .fault_cta = number_of(json.at("fault_cta")),
       .fault_location = text_of(json.at("fault_location")),
       .cause = text_of(json.at("cause")),
       .message = json.at("message")};
  f.place = place_of(json.at("place")), f.fault_place = place_of(json.at("fault_place"));
}

namespace {

/// null: nothing was kept.
Json provenance_json(const ProvenanceResult& p) {
  if (!p.kept) return {};
  return {{"repeated", p.repeated},
          {"tiles", p.tiles},
          {"causes", p.causes},
          {"not_looked_at", p.not_looked_at},
          {"report", p.report}};
}
ProvenanceResult provenance_of(const Json& json) {
  ProvenanceResult p;
  if (json.is_null()) return p;
  p.kept = true;
  json.at("repeated").get_to(p.repeated);
  json.at("tiles").get_to(p.tiles);
  json.at("causes").get_to(p.causes);
  json.at("not_looked_at").get_to(p.not_looked_at);
  json.at("report").get_to(p.report);
  return p;
}

}  // namespace

void to_json(Json& json, const RunResult& result) {
  json = Json::object();
  add_verdict(json, result);
  add_figures(json, result);
  add_findings(json, result);
  json["provenance"] = provenance_json(result.provenance);
  json["host"] = {{"wall_seconds", result.wall_seconds}, {"peak_rss_bytes", result.peak_rss_bytes}};
  json["details"] = details_json(result);
}

void from_json(const Json& json, RunResult& result) {
  result = {};
  read_verdict(json, result);
  read_figures(json, result);
  read_findings(json, result);
  read_details(json.at("details"), result);
  result.provenance = provenance_of(json.at("provenance"));
  json.at("host").at("wall_seconds").get_to(result.wall_seconds);
  json.at("host").at("peak_rss_bytes").get_to(result.peak_rss_bytes);
}

}  // namespace sm100::sim
