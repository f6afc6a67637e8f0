// SPDX-License-Identifier: Apache-2.0
#include "sim/compiled_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "sim/text.h"

namespace sm100::sim {
namespace {

struct Function {
  std::string name, ptx_file;
  std::vector<SourceLine> inlined_at;
};

/// Of all PTX files of the process: a Loc may outlive the program that it is of.
struct Functions {
  std::deque<Function> all;
  std::map<std::string, const Function*> by_text;
  std::unordered_map<const char*, const Function*> by_name;
  std::set<std::string> places;  ///< of instructions
  /// By a place and the calls around it up to some: the lines that have the next call, or the function's name where
  /// there is none.
  std::map<std::string, std::set<std::string>> callers;
  /// By the outer calls of places, from some on: the places.
  std::map<std::string, std::set<std::string>> inside;
};
Functions& functions() {
  static Functions all;
  return all;
}

bool& named() {
  static bool on = false;
  return on;
}

/// The place and the calls around it, the innermost first.
std::vector<SourceLine> chain_of(const CompiledPlace& place) {
  std::vector<SourceLine> lines = {place.source};
  lines.insert(lines.end(), place.inlined_at.begin(), place.inlined_at.end());
  return lines;
}
std::string key_of(const std::string& ptx_file, std::span<const SourceLine> lines) {
  std::string key = ptx_file;
  for (const SourceLine& line : lines) key += fmt::format("\n{}:{}", line.file, line.line);
  return key;
}

/// CompiledPlace::telling: the outermost line that only this instruction comes from; else, of a line that several
/// callers have, the call that tells them apart.
size_t telling_call(const CompiledPlace& place) {
  if (place.inlined_at.empty()) return 0;
  const Functions& all = functions();
  const std::vector<SourceLine> chain = chain_of(place);
  const std::span<const SourceLine> lines(chain);
  for (size_t i = lines.size(); i-- > 1;) {
    const auto inside = all.inside.find(key_of(place.ptx.file, lines.subspan(i)));
    if (inside != all.inside.end() && inside->second.size() == 1) return i;
  }
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const auto callers = all.callers.find(key_of(place.ptx.file, lines.first(i + 1)));
    if (callers == all.callers.end() || callers->second.size() < 2) return i;
  }
  return lines.size() - 1;
}

}  // namespace

const char* compiled_function(std::string_view name, std::string_view ptx_file,
                              std::vector<SourceLine> inlined_at) {
  std::string key = fmt::format("{}\n{}", name, ptx_file);
  for (const SourceLine& call : inlined_at) key += fmt::format("\n{}:{}", call.file, call.line);
  const Function*& known = functions().by_text[std::move(key)];
  if (!known) {
    known =
        &functions().all.emplace_back(Function{std::string(name), std::string(ptx_file), std::move(inlined_at)});
    functions().by_name[known->name.c_str()] = known;
  }
  return known->name.c_str();
}

void note_compiled(const Loc& loc) {
  const CompiledPlace place = place_of(loc);
  if (place.source.line == 0) return;
  const std::vector<SourceLine> chain = chain_of(place);
  const std::span<const SourceLine> lines(chain);
  std::string key = key_of(place.ptx.file, lines);
  if (!functions().places.insert(key).second) return;
  for (size_t i = 0; i < lines.size(); ++i) {
    functions().callers[key_of(place.ptx.file, lines.first(i + 1))].insert(
        i + 1 < lines.size() ? source_text(lines[i + 1]) : std::string(loc.function_name()));
    functions().inside[key_of(place.ptx.file, lines.subspan(i))].insert(key);
  }
}

bool is_compiled(const Loc& loc) { return functions().by_name.contains(loc.function_name()); }

CompiledPlace place_of(const Loc& loc) {
  CompiledPlace place;
  if (loc.line() == 0) return place;
  const auto known = functions().by_name.find(loc.function_name());
  if (known == functions().by_name.end()) return place.source = {loc.file_name(), loc.line()}, place;
  const Function& function = *known->second;
  place.ptx = {function.ptx_file, loc.column()};
  place.inlined_at = function.inlined_at;
  // Without line information the place is that of the PTX itself.
  if (loc.file_name() != function.ptx_file) place.source = {loc.file_name(), loc.line()};
  if (place.source.line > 0) place.telling = telling_call(place);
  return place;
}

std::string source_text(const SourceLine& at) {
  return fmt::format("{}:{}", std::string_view(at.file).substr(at.file.find_last_of('/') + 1), at.line);
}

std::string text_at(const SourceLine& at) {
  static std::map<std::string, std::vector<std::string>> files;
  const auto [file, fresh] = files.try_emplace(at.file);
  if (fresh) {
    std::ifstream in(at.file);
    for (std::string line; std::getline(in, line);) file->second.push_back(line);
  }
  if (at.line == 0 || at.line > file->second.size()) return {};
  const std::string& line = file->second[at.line - 1];
  const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  constexpr size_t kLongest = 120;
  return first == std::string::npos ? "" : line.substr(first, std::min(last + 1 - first, kLongest));
}

void name_inlining(bool on) { named() = on; }
bool names_inlining() { return named(); }

std::string line_of(const Loc& loc) {
  if (loc.line() == 0 || std::string_view(loc.file_name()).empty()) return {};
  const CompiledPlace place = place_of(loc);
  if (place.source.line == 0) return source_text(place.ptx);
  std::string text = source_text(place.source);
  if (place.ptx.line == 0) return text;
  if (names_inlining()) {
    for (const SourceLine& call : place.inlined_at) text += ", inlined at " + source_text(call);
  } else if (place.telling > 0) {
    return fmt::format("{} ({}, {})", source_text(place.telling_line()), text, source_text(place.ptx));
  }
  return fmt::format("{} ({})", text, source_text(place.ptx));
}

}  // namespace sm100::sim
