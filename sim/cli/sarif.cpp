// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sarif.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "sim/checks.h"

namespace sm100::sim::cli {
namespace {

const Check* find_check(const std::string& id) {
  for (const Check& check : kChecks)
    if (check.id == id) return &check;
  return nullptr;
}

/// A file below the current folder by its path from there, as review tools have it; any other as it is.
std::string uri_of(const std::string& file) {
  std::error_code error;
  const std::filesystem::path path(file), here = std::filesystem::current_path(error);
  const std::filesystem::path below = path.is_absolute() ? path.lexically_relative(here) : path;
  const bool is_below = !below.empty() && below.begin()->string() != "..";
  const std::string text = (is_below ? below : path).generic_string();
  std::string uri = !is_below && path.is_absolute() ? "file://" : "";
  for (const char c : text) uri += c == ' ' ? "%20" : c == '%' ? "%25" : c == '#' ? "%23" : std::string(1, c);
  return uri;
}

/// null: nothing is known of it.
Json location(const CompiledPlace& place, const std::string& text) {
  const SourceLine& at = place.source.line > 0 ? place.telling_line() : place.ptx;
  if (at.line > 0 && !at.file.empty())
    return {{"physicalLocation",
             {{"artifactLocation", {{"uri", uri_of(at.file)}}}, {"region", {{"startLine", at.line}}}}}};
  if (text.empty()) return {};
  return {{"message", {{"text", text}}}};
}

}  // namespace

void Sarif::add_rule(const std::string& id, bool warning) {
  if (std::any_of(rules_.begin(), rules_.end(), [&](const Json& rule) { return rule.at("id") == id; })) return;
  Json rule = {{"id", id}, {"defaultConfiguration", {{"level", warning ? "warning" : "error"}}}};
  if (const Check* const check = find_check(id)) {
    rule["shortDescription"] = {{"text", std::string(check->title)}};
    rule["fullDescription"] = {{"text", std::string(check->meaning)}};
    rule["help"] = {{"text", fmt::format("{}\n{}", check->symptom, check->mend)}};
  } else {
    rule["shortDescription"] = {{"text", id == "hang" ? "warps wait for something that can never come"
                                                      : "the program could not be carried out"}};
  }
  rules_.push_back(std::move(rule));
}

void Sarif::add(const Finding& finding, bool warning, const std::string& where) {
  add_rule(finding.id, warning);
  std::string text = fmt::format("{}: {}", where, finding.message);
  if (!finding.cause.empty() && finding.message.find(finding.cause) == std::string::npos)
    text += fmt::format(" Likely cause: {}", finding.cause);
  Json result = {{"ruleId", finding.id}, {"level", warning ? "warning" : "error"}, {"message", {{"text", text}}}};
  if (Json at = location(finding.place, finding.location); !at.is_null()) result["locations"] = Json::array({at});
  if (Json at = location(finding.fault_place, finding.fault_location); !at.is_null()) {
    at["message"] = {{"text", finding.fault_role.empty()
                                  ? "where it should have been done"
                                  : fmt::format("where {} should have acted", finding.fault_role)}};
    result["relatedLocations"] = Json::array({at});
  }
  results_.push_back(std::move(result));
}

void Sarif::add_failure(const std::string& rule, const std::string& message) {
  add_rule(rule, false);
  results_.push_back({{"ruleId", rule}, {"level", "error"}, {"message", {{"text", message}}}});
}

Json Sarif::document(const std::vector<std::string>& command, int exit_code) const {
  const std::string version = tool_version();
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       Json::array(
           {{{"tool",
              {{"driver",
                {{"name", "sm100sim"}, {"version", version.substr(version.find(' ') + 1)}, {"rules", rules_}}}}},
             {"invocations", Json::array({{{"commandLine", fmt::format("{}", fmt::join(command, " "))},
                                           {"exitCode", exit_code},
                                           {"executionSuccessful", exit_code == 0}}})},
             {"results", results_}}})}};
}

}  // namespace sm100::sim::cli
