// SPDX-License-Identifier: Apache-2.0
/// Commands with what they print, as documents show them: run again and compared.
///
///   $ sm100sim run scenarios/02_one_stage.toml --trace t.pftrace        a command without lines below it is only
///   run $ sm100sim stats t.pftrace first line as printed
///   ...                                                              any lines left out; inside a line, any text
#pragma once

#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "sim/program.h"

namespace sm100::sim {

struct Command {
  std::string arguments;           ///< behind "$ sm100sim "; empty: another program
  std::string line;                ///< as the document has it
  std::vector<std::string> shown;  ///< what the document says that it prints
};

/// A folder with a link to scenarios/, so that commands read as in the source tree.
inline void make_console_folder(const ScratchDirectory& folder) {
  std::filesystem::create_directory_symlink(scenario_dir(), folder / "scenarios");
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Lines before the first command are dropped.
inline std::vector<Command> commands_of(const std::string& block) {
  std::vector<Command> commands;
  for (const std::string& line : lines_of(block)) {
    if (line.rfind("$ ", 0) == 0)
      commands.push_back({line.rfind("$ sm100sim ", 0) == 0 ? line.substr(11) : "", line, {}});
    else if (!commands.empty())
      commands.back().shown.push_back(line);
  }
  return commands;
}

/// What the command prints, on both streams, by line; times of this machine as "* s".
struct Printed {
  int exit_code;
  std::vector<std::string> lines;
};

inline std::string without_wall_time(const std::string& line) {
  static const std::regex seconds(R"(\b\d+(\.\d+)? s( with \d+ process(es)?)?($|[ ,;)]))");
  return std::regex_replace(line, seconds, "* s$4");
}

inline Printed print(const ScratchDirectory& folder, const Command& command) {
  const Ran ran = run(folder, command.arguments);
  return {ran.exit_code, lines_of(ran.out + ran.err)};
}

namespace console_parts {

inline bool elision(const std::string& line) {
  return line.find_first_not_of(' ') != std::string::npos && line.substr(line.find_first_not_of(' ')) == "...";
}

inline std::string without_blanks_behind(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

/// Whether a line of the document is that printed line.
inline bool same(const std::string& shown, const std::string& printed) {
  const std::string a = without_blanks_behind(without_wall_time(shown)),
                    b = without_blanks_behind(without_wall_time(printed));
  const size_t gap = a.find("...");
  if (gap == std::string::npos) return a == b;
  const std::string head = a.substr(0, gap), tail = a.substr(gap + 3);
  return b.size() >= head.size() + tail.size() && b.rfind(head, 0) == 0 &&
         b.compare(b.size() - tail.size(), tail.size(), tail) == 0;
}

/// Whether they may be the same line at another time: the words without figures, and a timeline's row without what
/// it draws.
inline bool alike(const std::string& shown, const std::string& printed) {
  const auto words = [](const std::string& line) {
    const std::string named = std::regex_replace(line, std::regex(R"(\|.*\|\s*$)"), "|");
    return std::regex_replace(named, std::regex(R"([-+\d.,:\[\]() ]+)"), " ");
  };
  return same(shown, printed) || words(shown) == words(printed);
}

using Equal = bool (*)(const std::string&, const std::string&);

/// Where each shown line stands among the printed ones; nothing when they do not fit.
inline std::optional<std::vector<size_t>> places(const std::vector<std::string>& shown,
                                                 const std::vector<std::string>& printed, Equal equal) {
  std::vector<size_t> at(shown.size(), std::string::npos);
  size_t cursor = 0;
  bool floats = false;  // something was left out above
  for (size_t i = 0; i < shown.size();) {
    if (elision(shown[i])) {
      floats = true, ++i;
      continue;
    }
    size_t end = i;
    while (end < shown.size() && !elision(shown[end])) ++end;
    const size_t length = end - i;
    const auto fits = [&](size_t from) {
      for (size_t j = 0; j < length; ++j)
        if (from + j >= printed.size() || !equal(shown[i + j], printed[from + j])) return false;
      return end < shown.size() || from + length == printed.size();
    };
    while (!fits(cursor))
      if (!floats || ++cursor >= printed.size()) return std::nullopt;
    for (; i < end; ++i) at[i] = cursor++;
    floats = false;
  }
  return at;
}

}  // namespace console_parts

/// Whether the command prints what the document shows.
inline bool shows(const Command& command, const Printed& printed) {
  return console_parts::places(command.shown, printed.lines, console_parts::same).has_value();
}

/// The lines as they are printed now, with the same lines left out; nothing when they have no counterpart.
inline std::optional<std::vector<std::string>> updated(const Command& command, const Printed& printed) {
  using namespace console_parts;
  const auto at = places(command.shown, printed.lines, alike);
  if (!at) return std::nullopt;
  std::vector<std::string> lines;
  for (size_t i = 0; i < command.shown.size(); ++i) {
    const size_t place = (*at)[i];
    lines.push_back(place == std::string::npos || same(command.shown[i], printed.lines[place])
                        ? command.shown[i]
                        : without_blanks_behind(printed.lines[place]));
  }
  return lines;
}

}  // namespace sm100::sim
