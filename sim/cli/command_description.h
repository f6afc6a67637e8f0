// SPDX-License-Identifier: Apache-2.0
/// What the parser knows of every command, as a manual page and as completion for shells.  Nothing here is written
/// by hand, so both say what --help says.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::sim::cli {

/// What a word of the command line may be completed with.
enum class WordKind { nothing, words, file, folder, scenario };

struct OptionDescription {
  std::vector<std::string> names;  ///< as typed: --trace, -o; empty: a positional argument
  std::string value;               ///< FILE, SEED, ...; empty: a flag
  std::string description;
  WordKind kind = WordKind::nothing;
  std::vector<std::string> words;  ///< that are allowed, if kind is words
  bool repeated = false, required = false;
};

struct CommandDescription {
  std::string name, description, footer;
  std::vector<OptionDescription> options;  ///< positional arguments first
};

struct ProgramDescription {
  std::string description, footer;
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;
};

ProgramDescription describe(const CLI::App& program);

/// Section 1 of the manual, for man(1).
std::string manual_page(const ProgramDescription& program, std::string_view version);

/// A script that completes commands, options, their words, files and names of scenarios.
/// `shell` is bash, zsh or fish.
std::string completion_script(const ProgramDescription& program, std::string_view shell);

}  // namespace sm100::sim::cli
