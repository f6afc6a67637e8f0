// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/toml_reader.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace sm100::host {
namespace {

constexpr size_t kLargestFile = 1 << 20;  // bytes; keeps `run /dev/zero` from reading for ever

struct Override {
  std::string path;  ///< "config.stages"
  std::string text;  ///< as given: "config.stages=0"
};

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t dot = path.find('.', begin);
    parts.emplace_back(path.substr(begin, dot - begin));
    if (dot == std::string_view::npos) return parts;
    begin = dot + 1;
  }
}

/// True for "config" within "config" and "config.stages", not within "configuration".
bool is_within(std::string_view path, std::string_view outer) {
  return path.substr(0, outer.size()) == outer && (path.size() == outer.size() || path[outer.size()] == '.');
}

std::optional<size_t> array_index(const std::string& part) {
  size_t index = 0;
  const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (status != std::errc() || end != part.data() + part.size()) return std::nullopt;
  return index;
}

template <class Node>  // toml::node or const toml::node
Node* child(Node& parent, const std::string& part) {
  if (auto* table = parent.as_table()) return table->get(part);
  if (auto* array = parent.as_array())
    if (const auto index = array_index(part)) return array->get(*index);
  return nullptr;
}

const toml::node* find(const toml::table& root, std::string_view path) {
  const toml::node* node = &root;
  if (path.empty()) return node;
  for (const std::string& part : split_path(path))
    if (!(node = child(*node, part))) return nullptr;
  return node;
}

std::string join_path(std::string_view outer, std::string_view key) {
  return outer.empty() ? std::string(key) : fmt::format("{}.{}", outer, key);
}

/// The value as it would stand in the file, on one line and not too long.
std::string display(const toml::node& node) {
  std::string text;
  if (node.is_table()) {
    text = "a table";
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& element : *array) text += (text.empty() ? "" : ", ") + display(element);
    text = "[" + text + "]";
  } else if (const auto* string = node.as_string()) {
    text = fmt::format("\"{}\"", string->get());
  } else {
    std::ostringstream stream;
    node.visit([&](const auto& value) {
      if constexpr (toml::is_value<decltype(value)>) stream << value;
    });
    text = stream.str();
  }
  text = one_line(text);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

std::string read_text(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw InputError(fmt::format("{}: no such file", name));
  if (std::filesystem::is_directory(status))
    throw InputError(fmt::format("{}: is a directory; a TOML file is needed", name));
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(fmt::format("{}: cannot be read (check its permissions)", name));
  std::string text(kLargestFile + 1, '\0');
  stream.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(stream.gcount()));
  if (text.size() > kLargestFile)
    throw InputError(fmt::format("{}: larger than 1 MiB; not a TOML input file", name));
  return text;
}

toml::table parse(const std::string& text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw InputError(
        one_line(fmt::format("{}:{}: not valid TOML: {}", name, error.source().begin.line, error.description())));
  }
}

bool is_bare_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '/' || c == '+' || c == '~';
  });
}

/// Value of an override: any TOML value, or a bare word, which stands for the string.
toml::table parse_override_value(const Override& set, std::string_view value) {
  if (value.find_first_of("\r\n") == std::string_view::npos) {
    try {
      return toml::parse(fmt::format("value = {}", value));
    } catch (const toml::parse_error&) {
      if (is_bare_word(value)) return toml::table{{"value", std::string(value)}};
    }
  }
  throw InputError(one_line(fmt::format("--set {}: the value is neither TOML nor a bare word", set.text)));
}

/// The index that a part of the path is; `text` is the override's.
size_t require_entry(const std::string& text, const toml::array& array, const std::string& part) {
  const auto index = array_index(part);
  if (index && *index < array.size()) return *index;
  throw InputError(
      one_line(fmt::format("--set {}: '{}': the array has {} entries, counted from 0", text, part, array.size())));
}

Override apply_override(toml::table& root, const std::string& text) {
  const size_t equals = text.find('=');
  Override set{text.substr(0, equals), text};
  const auto parts = split_path(set.path);
  const bool well_formed = std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() && std::all_of(part.begin(), part.end(),
                                        [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
  });
  if (equals == std::string::npos || !well_formed)
    throw InputError(one_line(fmt::format("--set {}: expected key=value or table.key=value", text)));

  toml::table value = parse_override_value(set, std::string_view(text).substr(equals + 1));
  toml::node* parent = &root;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (toml::table* table = parent->as_table(); table && !table->contains(parts[i]))
      table->insert(parts[i], toml::table{});
    if (parent->is_array()) require_entry(text, *parent->as_array(), parts[i]);
    parent = child(*parent, parts[i]);
    if (!parent || !(parent->is_table() || parent->is_array())) {
      const std::string outer(set.path.substr(0, set.path.rfind('.')));
      throw InputError(one_line(fmt::format("--set {}: '{}' is not a table", text, outer)));
    }
  }
  toml::node& node = *value.get("value");
  if (toml::table* table = parent->as_table()) {
    node.visit([&](auto& v) { table->insert_or_assign(parts.back(), v); });
  } else {
    toml::array& array = *parent->as_array();
    const size_t index = require_entry(text, array, parts.back());
    node.visit([&](auto& v) { array.replace(array.cbegin() + std::ptrdiff_t(index), v); });
  }
  return set;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// "integers", "integers from 0", "integers 1 to 148".
std::string integers_text(int64_t low, int64_t high) {
  if (low == INT64_MIN) return "integers";
  return high == INT64_MAX ? fmt::format("integers from {}", low) : fmt::format("integers {} to {}", low, high);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = word.size() <= 3 ? 2 : std::min<size_t>(4, word.size() / 2 + 1);  // exclusive
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) best = candidate, best_distance = distance;
  }
  return best;
}

// ---------------------------------------------------------------- document

struct TomlDocument::Content {
  std::string file;
  toml::table root;
  std::vector<Override> overrides;

  /// "--set config.stages=0", "dense.toml:12" or, where no line is known, "dense.toml".
  std::string location(std::string_view key) const {
    const toml::node* value = find(root, key);
    const bool is_leaf =
        value && !value->is_table() && !value->is_array_of_tables();  // an element may be overridden
    for (auto set = overrides.rbegin(); set != overrides.rend(); ++set)
      if (is_within(key, set->path) || (is_leaf && is_within(set->path, key)))
        return one_line("--set " + set->text);
    std::string_view path = key;
    while (true) {  // an absent key is placed at the line of the table it belongs in
      const toml::node* node = find(root, path);
      if (node && !path.empty() && node->source().begin.line > 0)
        return fmt::format("{}:{}", file, node->source().begin.line);
      for (auto set = overrides.rbegin(); node && set != overrides.rend(); ++set)
        if (is_within(set->path, path) && !path.empty()) return one_line("--set " + set->text);
      if (path.find('.') == std::string_view::npos) return file;
      path = path.substr(0, path.rfind('.'));
    }
  }

  /// "key 'config.stages' = 0" or, for an absent key, its default.
  std::string subject(std::string_view key, std::string_view value) const {
    const toml::node* node = find(root, key);
    if (node)
      return node->is_table() ? fmt::format("table '{}'", key) : fmt::format("key '{}' = {}", key, display(*node));
    return value.empty() ? fmt::format("key '{}'", key) : fmt::format("key '{}' = {} (default)", key, value);
  }
};

TomlDocument::TomlDocument(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  auto content = std::make_shared<Content>();
  content->file = one_line(file.string());
  content->root = parse(read_text(file), content->file);
  for (const std::string& text : overrides) content->overrides.push_back(apply_override(content->root, text));
  content_ = std::move(content);
}

TomlDocument TomlDocument::of_text(std::string_view text, const std::string& name) {
  auto content = std::make_shared<Content>();
  content->file = name;
  content->root = parse(std::string(text), name);
  TomlDocument document;
  document.content_ = std::move(content);
  return document;
}

TomlDocument TomlDocument::of_table(std::string_view path) const {
  TomlDocument document = *this;
  document.base_ = full(path);
  return document;
}

std::string TomlDocument::full(std::string_view key) const { return key.empty() ? base_ : join_path(base_, key); }

TomlTable TomlDocument::root(const std::vector<std::string>& keys) const { return TomlTable(*this, "", keys); }

bool TomlDocument::has(std::string_view key) const { return find(content_->root, full(key)) != nullptr; }

bool TomlDocument::overridden(std::string_view key) const {
  return std::any_of(content_->overrides.begin(), content_->overrides.end(), [&](const Override& set) {
    return is_within(full(key), set.path) || is_within(set.path, full(key));
  });
}

std::string TomlDocument::message(std::string_view key, std::string_view text, std::string_view value) const {
  return one_line(
      fmt::format("{}: {}: {}", content_->location(full(key)), content_->subject(full(key), value), text));
}

InputError TomlDocument::error(std::string_view key, std::string_view text, std::string_view value) const {
  return InputError(message(key, text, value));
}

InputError TomlDocument::not_implemented(std::string_view key, std::string_view text) const {
  return InputError(fmt::format("not implemented: {}", error(key, text).what()));
}

// ---------------------------------------------------------------- table

TomlTable::TomlTable(TomlDocument document, std::string path, const std::vector<std::string>& keys)
    : document_(std::move(document)), path_(std::move(path)) {
  const toml::node* node = find(document_.content_->root, document_.full(path_));
  if (!node)
    throw InputError(fmt::format("{}: table [{}] is missing", document_.content_->file, document_.full(path_)));
  if (!node->is_table()) throw document_.error(path_, fmt::format("must be a table, [{}]", path_));
  for (const auto& [key, value] : *node->as_table()) {
    const std::string name(key.str());
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    const std::string meant = nearest_word(name, keys);
    const std::string full = document_.full(join_path(path_, name));
    throw InputError(one_line(
        fmt::format("{}: unknown {}; {}", document_.content_->location(full), document_.content_->subject(full, {}),
                    keys.empty()    ? "none is allowed here"
                    : meant.empty() ? fmt::format("allowed here are {}", fmt::join(keys, ", "))
                                    : fmt::format("did you mean '{}'?", meant))));
  }
}

std::string TomlTable::path(std::string_view key) const { return join_path(path_, key); }

bool TomlTable::has(std::string_view key) const { return document_.has(path(key)); }

bool TomlTable::is_table(std::string_view key) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  return node && node->is_table();
}

bool TomlTable::is_word(std::string_view key, std::string_view word) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  const auto* value = node ? node->as_string() : nullptr;
  return value && value->get() == word;
}

InputError TomlTable::wrong(std::string_view key, std::string_view allowed) const {
  const std::string full = path(key);
  if (has(key)) return document_.error(full, allowed);
  const std::string absent = document_.full(full);
  return InputError(
      fmt::format("{}: key '{}' is missing; {}", document_.content_->location(absent), absent, allowed));
}

int64_t TomlTable::integer(std::string_view key, int64_t low, int64_t high) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  const auto* value = node ? node->as_integer() : nullptr;
  if (!value || value->get() < low || value->get() > high)
    throw wrong(key, "allowed are " + integers_text(low, high));
  return value->get();
}

double TomlTable::number(std::string_view key, double low, double high) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  const auto value = node && node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !(*value >= low && *value <= high))  // NaN compares false
    throw wrong(key, fmt::format("allowed are numbers {} to {}", low, high));
  return *value;
}

bool TomlTable::boolean(std::string_view key) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  if (!node || !node->is_boolean()) throw wrong(key, "allowed are true and false");
  return node->as_boolean()->get();
}

std::string TomlTable::string(std::string_view key) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  if (!node || !node->is_string()) throw wrong(key, "allowed are strings in quotes");
  return node->as_string()->get();
}

std::string TomlTable::word(std::string_view key, const std::vector<std::string_view>& allowed) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  const std::string value = node && node->is_string() ? node->as_string()->get() : "";
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw wrong(key,
                fmt::format("allowed {} \"{}\"", allowed.size() == 1 ? "is" : "are", fmt::join(allowed, "\", \"")));
  return value;
}

std::vector<int64_t> TomlTable::integers(std::string_view key, size_t count, int64_t low, int64_t high) const {
  const InputError error = wrong(key, fmt::format("allowed are lists of {} {}", count, integers_text(low, high)));
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  const toml::array* array = node ? node->as_array() : nullptr;
  if (!array || array->size() != count) throw error;
  std::vector<int64_t> values;
  for (const toml::node& element : *array) {
    const auto* value = element.as_integer();
    if (!value || value->get() < low || value->get() > high) throw error;
    values.push_back(value->get());
  }
  return values;
}

std::vector<int64_t> TomlTable::integer_list(std::string_view key, int64_t low, int64_t high) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  const toml::array* array = node ? node->as_array() : nullptr;
  if (!array || array->empty()) throw wrong(key, fmt::format("allowed are lists of {}", integers_text(low, high)));
  return integers(key, array->size(), low, high);
}

std::vector<std::vector<int64_t>> TomlTable::integer_rows(std::string_view key, size_t count, int64_t low,
                                                          int64_t high) const {
  const InputError error =
      wrong(key, fmt::format("allowed are lists of lists of {} {}", count, integers_text(low, high)));
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  const toml::array* array = node ? node->as_array() : nullptr;
  if (!array || array->empty()) throw error;
  std::vector<std::vector<int64_t>> rows;
  for (const toml::node& element : *array) {
    const toml::array* row = element.as_array();
    if (!row || row->size() != count) throw error;
    rows.emplace_back();
    for (const toml::node& entry : *row) {
      const auto* value = entry.as_integer();
      if (!value || value->get() < low || value->get() > high) throw error;
      rows.back().push_back(value->get());
    }
  }
  return rows;
}

std::vector<std::string> TomlTable::strings(std::string_view key) const {
  const InputError error = wrong(key, "allowed are lists of strings in quotes");
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  const toml::array* array = node ? node->as_array() : nullptr;
  if (!array) throw error;
  std::vector<std::string> values;
  for (const toml::node& element : *array) {
    if (!element.is_string()) throw error;
    values.push_back(element.as_string()->get());
  }
  return values;
}

std::string TomlTable::json(std::string_view key) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  if (!node || !node->is_table()) throw wrong(key, fmt::format("must be a table, [{}]", path(key)));
  std::ostringstream text;
  text << toml::json_formatter(*node);
  return text.str();
}

TomlTable TomlTable::table(std::string_view key, const std::vector<std::string>& keys) const {
  return TomlTable(document_, path(key), keys);
}

std::vector<TomlTable> TomlTable::tables(std::string_view key, const std::vector<std::string>& keys) const {
  const toml::node* node = find(document_.content_->root, document_.full(path(key)));
  if (const toml::array* array = node ? node->as_array() : nullptr; array && array->empty()) return {};
  if (!node || !node->is_array_of_tables())
    throw wrong(key, fmt::format("must be an array of tables, [[{}]]", path(key)));
  std::vector<TomlTable> elements;
  for (size_t i = 0; i < node->as_array()->size(); ++i)
    elements.push_back(TomlTable(document_, fmt::format("{}.{}", path(key), i), keys));
  return elements;
}

}  // namespace sm100::host
