// SPDX-License-Identifier: Apache-2.0
/// Strict typed reading of TOML input.  Every key is checked: an unknown or missing key, a wrong type or a
/// value outside its range throws InputError with one line that names file, line, key, value and what is
/// allowed.
///
/// Overrides ("table.key=value", from --set) replace values before reading; messages about such a value say
/// `--set table.key=value` instead of file and line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/host/scenario.h"

namespace sm100::host {

class TomlTable;

/// One parsed file with its overrides.  Keys are named by their path: "config.stages", "fault.0.role".
class TomlDocument {
 public:
  explicit TomlDocument(const std::filesystem::path& file, const std::vector<std::string>& overrides = {});
  /// A document that lies in no file; messages call it `name`.
  static TomlDocument of_text(std::string_view text, const std::string& name);

  /// The table at `path` as a document of its own, in which keys are named from there on; messages name them in
  /// full.
  TomlDocument of_table(std::string_view path) const;

  /// The top-level table; `keys` is all that may stand in it.
  TomlTable root(const std::vector<std::string>& keys) const;

  bool has(std::string_view key) const;

  /// True if the value of `key` (or a part of it) came from an override.
  bool overridden(std::string_view key) const;

  /// "FILE:LINE: key 'config.stages' = 0: <text>".  `value` is shown when the key is absent (a default).
  std::string message(std::string_view key, std::string_view text, std::string_view value = {}) const;
  InputError error(std::string_view key, std::string_view text, std::string_view value = {}) const;
  /// The same for something legal that this version lacks: the message begins with "not implemented: ".
  InputError not_implemented(std::string_view key, std::string_view text) const;

 private:
  TomlDocument() = default;
  friend class TomlTable;
  struct Content;
  std::string full(std::string_view key) const;
  std::shared_ptr<const Content> content_;
  std::string base_;  ///< path of the document's table in the file; empty: it is the file
};

/// A table of the document that has been checked for unknown keys.  Getters throw when the key is absent or
/// wrong.
class TomlTable {
 public:
  /// Words of an enumeration and what they stand for.
  template <class T>
  using Words = std::vector<std::pair<std::string_view, T>>;

  bool has(std::string_view key) const;
  bool is_table(std::string_view key) const;                        ///< [key] or key = { ... }
  bool is_word(std::string_view key, std::string_view word) const;  ///< key = "word"
  std::string path(std::string_view key) const;                     ///< "config.stages"

  int64_t integer(std::string_view key, int64_t low, int64_t high) const;
  double number(std::string_view key, double low, double high) const;
  bool boolean(std::string_view key) const;
  std::string string(std::string_view key) const;
  std::string word(std::string_view key, const std::vector<std::string_view>& allowed) const;
  std::vector<int64_t> integers(std::string_view key, size_t count, int64_t low, int64_t high) const;
  /// Of any length, but not empty.
  std::vector<int64_t> integer_list(std::string_view key, int64_t low, int64_t high) const;
  /// Lists of `count` integers each, at least one.
  std::vector<std::vector<int64_t>> integer_rows(std::string_view key, size_t count, int64_t low,
                                                 int64_t high) const;
  std::vector<std::string> strings(std::string_view key) const;
  std::string json(std::string_view key) const;  ///< a table of anything, as JSON
  TomlTable table(std::string_view key, const std::vector<std::string>& keys) const;
  std::vector<TomlTable> tables(std::string_view key,
                                const std::vector<std::string>& keys) const;  ///< [[key]]
  /// To throw where the key's value is none of these, or where the key is missing.
  InputError wrong(std::string_view key, std::string_view allowed) const;

  template <class T>
  T choice(std::string_view key, const Words<T>& words) const {
    std::vector<std::string_view> allowed;
    for (const auto& [name, value] : words) allowed.push_back(name);
    const std::string chosen = word(key, allowed);
    for (const auto& [name, value] : words)
      if (name == chosen) return value;
    throw std::logic_error("a checked word is not in its own list");
  }

 private:
  friend class TomlDocument;
  TomlTable(TomlDocument document, std::string path, const std::vector<std::string>& keys);
  TomlDocument document_;
  std::string path_;
};

/// The entry of `known` that a misspelt `word` most likely means; empty if none is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// `text` with control characters replaced, so that it prints as one line.
std::string one_line(std::string_view text);

}  // namespace sm100::host
