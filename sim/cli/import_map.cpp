// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/import_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/host/toml_reader.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

using traces::ChromeImportMap;
using traces::Expression;
using traces::SpanKind;

std::optional<Expression> expression(const TomlDocument& document, const TomlTable& table, std::string_view key,
                                     const std::vector<std::string_view>& variables) {
  if (!table.has(key)) return std::nullopt;
  const std::string text = table.string(key);
  try {
    return Expression(text, variables);
  } catch (const std::runtime_error& error) { throw document.error(table.path(key), error.what()); }
}

std::string pattern(const TomlDocument& document, const TomlTable& table, std::string_view key) {
  if (!table.has(key)) return "";
  std::string text = table.string(key);
  try {
    traces::check_pattern(text);
  } catch (const std::runtime_error& error) { throw document.error(table.path(key), error.what()); }
  return text;
}

std::string name_of(const TomlDocument& document, const TomlTable& table) {
  std::string name = table.string("name");
  if (name.empty()) throw document.error(table.path("name"), "must not be empty");
  return name;
}

/// The kinds of role spans; units have no place in an import.
SpanKind role_kind(const TomlTable& table) {
  std::vector<std::string_view> allowed;
  for (int i = 0; i <= static_cast<int>(SpanKind::map_edit); ++i) allowed.push_back(name(static_cast<SpanKind>(i)));
  return *traces::span_kind(table.word("kind", allowed));
}

ChromeImportMap::Args arguments(const TomlDocument& document, const TomlTable& table) {
  ChromeImportMap::Args args;
  for (size_t a = 0; a < args.size(); ++a)
    args[a] = expression(document, table, traces::kImportedArgs[a], traces::kEventVariables);
  return args;
}

std::vector<std::string> with_arguments(std::vector<std::string> keys) {
  keys.insert(keys.end(), traces::kImportedArgs.begin(), traces::kImportedArgs.end());
  return keys;
}

void read_metadata(const TomlTable& root, ChromeImportMap& map) {
  if (root.has("source")) map.source = root.word("source", {"sim", "hardware"});
  if (root.has("device")) map.device = root.string("device");
  if (root.has("scenario")) map.scenario = root.string("scenario");
  if (root.has("ticks_per_second")) map.ticks_per_second = root.number("ticks_per_second", 1, 1e12);
  if (root.has("configuration"))
    map.configuration = nlohmann::ordered_json::parse(root.json("configuration")).dump();
  if (root.has("time_unit"))
    map.units_per_second = root.choice<double>("time_unit", {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}});
  if (root.has("ignore")) map.ignore = root.strings("ignore");
}

void read_format(const TomlDocument& document, const TomlTable& root, ChromeImportMap& map) {
  using Format = ChromeImportMap::Format;
  if (root.has("format"))
    map.format = root.choice<Format>(
        "format", {{"chrome", Format::chrome}, {"synclog", Format::synclog}, {"iket", Format::iket}});
  const auto only_of = [&](const char* key, Format format, const char* name) {
    if (root.has(key) && map.format != format)
      throw document.error(key, fmt::format("needs 'format = \"{}\"'", name));
    return root.has(key);
  };
  if (only_of("launch", Format::iket, "iket")) map.launch = root.integer("launch", 0, 1'000'000);
  if (!only_of("barrier", Format::synclog, "synclog")) return;
  for (const TomlTable& table : root.tables("barrier", {"name", "smem_addr", "stages"})) {
    traces::LoggedBarrier barrier{.name = name_of(document, table)};
    barrier.smem_addr = table.integer("smem_addr", 0, (1 << 24));
    if (table.has("stages")) barrier.stages = table.integer("stages", 1, 1024);
    map.barriers.push_back(std::move(barrier));
  }
}

void read_places(const TomlDocument& document, const TomlTable& root, ChromeImportMap& map) {
  const TomlTable track = root.table("track", {"process_name", "thread_name", "cta", "sm", "warp"});
  map.process_name = pattern(document, track, "process_name");
  map.thread_name = pattern(document, track, "thread_name");
  map.cta = expression(document, track, "cta", traces::kThreadVariables);
  map.sm = expression(document, track, "sm", traces::kThreadVariables);
  map.warp = expression(document, track, "warp", traces::kThreadVariables);
  const auto captured = [&](const char* what) {
    return (map.process_name + map.thread_name).find(what) != std::string::npos;
  };
  if (!map.cta && !captured("{cta}"))
    throw document.error("track", "must have 'cta', an expression, or {cta} in a name's pattern");
  if (!captured("{role}") && !root.has("role"))
    throw document.error("track", "must have {role} in a name's pattern, or the map [[role]] tables");
}

void read_roles(const TomlDocument& document, const TomlTable& root, ChromeImportMap& map) {
  if (!root.has("role")) return;
  for (const TomlTable& table : root.tables("role", {"name", "when", "events"})) {
    ChromeImportMap::Role role{.name = name_of(document, table)};
    role.when = expression(document, table, "when", traces::kRoleVariables);
    if (table.has("events")) role.events = table.strings("events");
    map.roles.push_back(std::move(role));
  }
}

void read_events(const TomlDocument& document, const TomlTable& root, ChromeImportMap& map) {
  for (const TomlTable& table :
       root.tables("event", with_arguments({"name", "kind", "pipeline", "pipeline_arg"}))) {
    ChromeImportMap::Event event{.name = name_of(document, table), .kind = role_kind(table)};
    for (const ChromeImportMap::Event& other : map.events)
      if (other.name == event.name) throw document.error(table.path("name"), "another [[event]] has this name");
    for (const std::string& ignored : map.ignore)
      if (ignored == event.name) throw document.error(table.path("name"), "is in 'ignore' as well");
    if (table.has("pipeline")) event.pipeline = table.string("pipeline");
    if (table.has("pipeline_arg")) event.pipeline_arg = table.string("pipeline_arg");
    event.args = arguments(document, table);
    map.events.push_back(std::move(event));
  }
  for (size_t r = 0; r < map.roles.size(); ++r)
    for (const std::string& wanted : map.roles[r].events)
      if (std::none_of(map.events.begin(), map.events.end(), [&](const auto& e) { return e.name == wanted; }))
        throw document.error(fmt::format("role.{}.events", r), fmt::format("no [[event]] is named \"{}\"", wanted));
}

}  // namespace

ChromeImportMap load_import_map(const std::filesystem::path& file) {
  const TomlDocument document(file);
  const TomlTable root =
      document.root({"description", "source", "device", "scenario", "ticks_per_second", "time_unit", "ignore",
                     "configuration", "track", "role", "args", "event", "format", "launch", "barrier"});
  ChromeImportMap map;
  read_metadata(root, map);
  read_format(document, root, map);
  read_places(document, root, map);
  read_roles(document, root, map);
  if (root.has("args")) {
    std::vector<std::string> keys = with_arguments({});
    map.args = arguments(document, root.table("args", keys));
  }
  read_events(document, root, map);
  return map;
}

}  // namespace sm100::sim::cli
