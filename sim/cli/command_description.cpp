// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/command_description.h"

#include <algorithm>
#include <string>

namespace sm100::sim::cli {
namespace {

/// CLI11 keeps the words of IsMember in its description only: "{full,none}", behind a type's name.
std::vector<std::string> allowed_words(const std::string& type) {
  std::vector<std::string> words;
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return words;
  std::string word;
  for (const char c : type.substr(open + 1, close - open - 1)) {
    if (c != ',') {
      word += c;
      continue;
    }
    words.push_back(word);
    word.clear();
  }
  words.push_back(word);
  return words;
}

/// What a value is called says what it is.
WordKind kind_of(const std::string& value) {
  for (const char* file : {"FILE", "FILES", "TRACE", "TRACE2", "A", "B"})
    if (value == file) return WordKind::file;
  if (value == "DIR") return WordKind::folder;
  if (value == "SCENARIO" || value == "SHAPE") return WordKind::scenario;
  return WordKind::nothing;
}

OptionDescription describe(const CLI::Option& option) {
  OptionDescription result;
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  result.description = option.get_description();
  result.repeated = option.get_items_expected_max() > 1 || option.get_expected_max() > 1;
  result.required = option.get_required();
  const bool positional = result.names.empty();
  if (!positional && option.get_items_expected_max() == 0) return result;  // a flag
  const std::string type = option.get_type_name();
  result.words = allowed_words(type);
  result.value = positional ? option.get_name(true) : result.words.empty() ? type : "WORD";
  if (result.value.empty()) result.value = "TEXT";
  result.kind = !result.words.empty() ? WordKind::words : kind_of(result.value);
  return result;
}

std::vector<OptionDescription> options_of(const CLI::App& app) {
  std::vector<OptionDescription> options;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) options.push_back(describe(*option));
  std::stable_partition(options.begin(), options.end(), [](const auto& option) { return option.names.empty(); });
  return options;
}

}  // namespace

ProgramDescription describe(const CLI::App& program) {
  ProgramDescription result{program.get_description(), program.get_footer(), options_of(program), {}};
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    result.commands.push_back({command->get_name(), command->get_description(),
                               command->get_footer() == result.footer ? "" : command->get_footer(),
                               options_of(*command)});
  return result;
}

}  // namespace sm100::sim::cli
