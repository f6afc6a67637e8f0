// SPDX-License-Identifier: Apache-2.0
#include "sim/compiled_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
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
};
Functions& functions() {
  static Functions all;
  return all;
}

bool& named() {
  static bool on = false;
  return on;
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
  if (names_inlining())
    for (const SourceLine& call : place.inlined_at) text += ", inlined at " + source_text(call);
  return place.ptx.line == 0 ? text : fmt::format("{} ({})", text, source_text(place.ptx));
}

}  // namespace sm100::sim
