// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play_state.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

#include "kernels/host/toml_reader.h"
#include "sim/cli/play_controls.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

constexpr size_t kLongestWord = 64, kLongestList = 4;

bool is_word(const std::string& text) {
  return !text.empty() && text.size() <= kLongestWord &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool is_value(const Json& value) {
  if (value.is_boolean() || value.is_number_integer()) return true;
  if (value.is_string()) return is_word(value.get<std::string>());
  return value.is_array() && !value.empty() && value.size() <= kLongestList &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_number_integer(); });
}

[[noreturn]] void refuse(const std::string& text) { throw InputError(one_line("play: " + text)); }

const Json& member(const Json& json, const char* key, bool (Json::*is)() const noexcept, const char* needed) {
  if (!json.contains(key) || !(json.at(key).*is)()) refuse(fmt::format("'{}' must be {}", key, needed));
  return json.at(key);
}

}  // namespace

PlayState PlayState::of_json(const Json& json) {
  if (!json.is_object()) refuse("a state must be an object");
  PlayState state;
  state.scenario = member(json, "scenario", &Json::is_string, "the name of a scenario").get<std::string>();
  if (json.contains("set"))
    for (const auto& [key, value] : member(json, "set", &Json::is_object, "an object").items()) {
      if (!play_keys().contains(key))
        refuse(fmt::format("'{}' cannot be changed here", key.substr(0, kLongestWord)));
      if (!is_value(value))
        refuse(fmt::format("{}: allowed are integers, words, true, false and lists of up to {} integers", key,
                           kLongestList));
      state.set[key] = value;
    }
  if (json.contains("fault"))
    state.fault = member(json, "fault", &Json::is_string, "the id of a fault").get<std::string>();
  if (json.contains("occurrence")) {
    const Json& n = member(json, "occurrence", &Json::is_number_integer, "an integer");
    state.occurrence = n.get<int64_t>();
    if (state.occurrence < 0 || state.occurrence > 1'000'000)
      refuse("'occurrence': allowed are integers 0 to 1000000");
  }
  return state;
}

Json PlayState::json() const {
  return {{"scenario", scenario}, {"set", set}, {"fault", fault}, {"occurrence", occurrence}};
}

std::vector<std::string> PlayState::settings() const {
  std::vector<std::string> words;
  for (const auto& [key, value] : set) words.push_back(key + "=" + value.dump());
  return words;
}

// ---------------------------------------------------------------- as a file

namespace {

/// A TOML document, printed as the scenarios are written: keys in the order of the file that it was read from, what
/// is new behind them, and equals signs below each other.
class ScenarioText {
 public:
  explicit ScenarioText(const std::filesystem::path& file) : root_(toml::parse_file(file.string())) {
    remember_lines(root_, "");
  }

  /// As --set does.
  void set(const std::string& override) {
    const size_t equals = override.find('='), dot = override.find('.');
    toml::table value = toml::parse("value = " + override.substr(equals + 1));
    toml::table* table = &root_;
    std::string key = override.substr(0, equals);
    if (dot < equals) {
      const std::string outer = key.substr(0, dot);
      if (!root_[outer].is_table()) root_.insert_or_assign(outer, toml::table{});  // config = "auto"
      table = root_[outer].as_table();
      key = key.substr(dot + 1);
    }
    value.get("value")->visit([&](auto& v) { table->insert_or_assign(key, v); });
  }

  std::string text() const {
    const std::set<std::string> without = {"expect", "sound"};
    std::string text = body(root_, "", without);
    append_tables(root_, "", without, text);
    return text;
  }

 private:
  using Entry = std::pair<std::string, const toml::node*>;

  void remember_lines(const toml::table& table, const std::string& outer) {
    for (const auto& [key, node] : table) {
      lines_[outer + std::string(key.str())] = node.source().begin.line;
      if (const toml::table* inner = node.as_table()) remember_lines(*inner, outer + std::string(key.str()) + ".");
    }
  }

  std::vector<Entry> in_order(const toml::table& table, const std::string& outer) const {
    std::vector<Entry> entries;
    for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      const auto line = [&](const Entry& entry) {
        const auto known = lines_.find(outer + entry.first);
        return known == lines_.end() ? UINT32_MAX : uint32_t(known->second);
      };
      return line(a) < line(b);
    });
    return entries;
  }

  static std::string value_text(const toml::node& node) {
    std::string text;
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& item : *array) text += (text.empty() ? "" : ", ") + value_text(item);
      return "[" + text + "]";
    }
    if (const toml::table* table = node.as_table()) {
      for (const auto& [key, item] : *table)
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", std::string(key.str()), value_text(item));
      return "{" + text + "}";
    }
    std::ostringstream value;
    node.visit([&](const auto& v) {
      if constexpr (toml::is_string<decltype(v)>)
        value << Json(v.get()).dump();  // JSON's escapes are TOML's
      else if constexpr (toml::is_value<decltype(v)>)
        value << v;
    });
    return value.str();
  }

  static bool is_inner(const toml::node& node) { return node.is_table() || node.is_array_of_tables(); }

  std::string body(const toml::table& table, const std::string& outer, const std::set<std::string>& without) const {
    std::vector<Entry> entries;
    size_t width = 0;
    for (const Entry& entry : in_order(table, outer)) {
      if (is_inner(*entry.second) || without.contains(entry.first)) continue;
      if (const toml::array* array = entry.second->as_array(); array && array->empty()) continue;  // fault = []
      entries.push_back(entry);
      width = std::max(width, entry.first.size());
    }
    std::string text;
    for (const auto& [key, node] : entries) text += fmt::format("{:<{}} = {}\n", key, width, value_text(*node));
    return text;
  }

  void append_tables(const toml::table& table, const std::string& outer, const std::set<std::string>& without,
                     std::string& text) const {
    for (const Entry& entry : in_order(table, outer)) {
      const std::string& key = entry.first;  // a lambda captures no structured binding before Clang 16
      const toml::node* node = entry.second;
      if (without.contains(key) || !is_inner(*node)) continue;
      const auto append = [&](const char* open, const toml::table& inner, const char* close) {
        text += fmt::format("\n{}{}{}{}\n{}", open, outer, key, close, body(inner, outer + key + ".", {}));
        append_tables(inner, outer + key + ".", {}, text);
      };
      if (const toml::table* inner = node->as_table()) append("[", *inner, "]");
      if (const toml::array* array = node->as_array())
        for (const toml::node& item : *array) append("[[", *item.as_table(), "]]");
    }
  }

  toml::table root_;
  std::map<std::string, uint32_t> lines_;  ///< of the file, by path
};

}  // namespace

std::string scenario_text(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                          bool changed) {
  if (!changed) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  ScenarioText text(file);
  for (const std::string& override : overrides) text.set(override);
  return text.text();
}

}  // namespace sm100::sim::cli
