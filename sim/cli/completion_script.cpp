// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/cli/command_description.h"

namespace sm100::sim::cli {
namespace {

/// What prints the names of scenarios, one a line, in any shell.
constexpr const char* kScenarioNames =
    R"(sm100sim list scenarios 2>/dev/null | sed -n 's/^  *\([^ ]*\)\.toml .*/\1/p')";

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::vector<std::string> names_of(const std::vector<OptionDescription>& options) {
  std::vector<std::string> names;
  for (const OptionDescription& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> names_of(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  for (const CommandDescription& command : commands) names.push_back(command.name);
  return names;
}

/// The first positional argument stands for all: they are of one kind, or the first has words and the rest is free.
const OptionDescription* positional(const CommandDescription& command) {
  return !command.options.empty() && command.options.front().names.empty() ? &command.options.front() : nullptr;
}

// ---- bash

std::string bash_reply(WordKind kind, const std::vector<std::string>& words) {
  switch (kind) {
    case WordKind::words: return fmt::format("_sm100sim_words \"{}\"", joined(words));
    case WordKind::file: return "_sm100sim_files -f";
    case WordKind::folder: return "_sm100sim_files -d";
    case WordKind::scenario: return fmt::format("_sm100sim_files -f; _sm100sim_words \"$({})\"", kScenarioNames);
    case WordKind::nothing: break;
  }
  return "";
}

std::string bash(const ProgramDescription& program) {
  std::string values, options, arguments;
  for (const CommandDescription& command : program.commands) {
    for (const OptionDescription& option : command.options) {
      if (option.value.empty() || option.names.empty()) continue;
      std::string pattern;
      for (const std::string& name : option.names)
        pattern += fmt::format("{}{}:{}", pattern.empty() ? "" : "|", command.name, name);
      values += fmt::format("    {}) {}; return ;;\n", pattern,
                            option.kind == WordKind::nothing ? ":" : bash_reply(option.kind, option.words));
    }
    options +=
        fmt::format("      {}) _sm100sim_words \"{}\" ;;\n", command.name, joined(names_of(command.options)));
    const OptionDescription* first = positional(command);
    if (command.name == "exec")
      arguments += "    exec) _sm100sim_files -f ;;\n";
    else if (first && first->kind != WordKind::nothing)
      arguments += fmt::format("    {}) {} ;;\n", command.name, bash_reply(first->kind, first->words));
  }
  return fmt::format(R"(# bash completion of sm100sim.  Made by: sm100sim completion bash
_sm100sim_words() {{
  local found
  mapfile -t found < <(compgen -W "$1" -- "$word")
  COMPREPLY+=("${{found[@]}}")
}}
_sm100sim_files() {{
  local found
  compopt -o filenames 2>/dev/null
  mapfile -t found < <(compgen "$1" -- "$word")
  COMPREPLY+=("${{found[@]}}")
}}
_sm100sim() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in -*) ;; *) command=${{COMP_WORDS[i]}}; break ;; esac
  done
  case $command:$before in
{}  esac
  if [[ $word == -* ]]; then
    case $command in
      "") _sm100sim_words "{}" ;;
{}    esac
    return
  fi
  case $command in
    "") _sm100sim_words "{}" ;;
{}  esac
}}
complete -F _sm100sim sm100sim
)",
                     values, joined(names_of(program.options)), options, joined(names_of(program.commands)),
                     arguments);
}

// ---- zsh

std::string zsh_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return escaped;
}

std::string zsh_action(const OptionDescription& option) {
  switch (option.kind) {
    case WordKind::words: return fmt::format("({})", joined(option.words));
    case WordKind::file: return "_files";
    case WordKind::folder: return "_files -/";
    case WordKind::scenario: return "_sm100sim_scenarios";
    case WordKind::nothing: break;
  }
  return " ";
}

std::string zsh_spec(const OptionDescription& option, const std::string& name) {
  const std::string value =
      option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
  if (name.empty()) return fmt::format("'{}{}'", option.repeated ? "*" : option.required ? "" : ":", value);
  return fmt::format("'{}{}[{}]{}'", option.repeated ? "*" : "", name, zsh_text(option.description), value);
}

std::string zsh(const ProgramDescription& program) {
  std::string commands, cases;
  for (const CommandDescription& command : program.commands) {
    commands += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.description));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const OptionDescription& option : command.options) {
      for (const std::string& name : option.names) cases += " \\\n        " + zsh_spec(option, name);
      if (option.names.empty()) cases += " \\\n        " + zsh_spec(option, "");
    }
    if (command.name == "exec") cases += " \\\n        '*::program:_normal'";
    cases += " ;;\n";
  }
  return fmt::format(R"sh(#compdef sm100sim
# zsh completion of sm100sim.  Made by: sm100sim completion zsh
_sm100sim_scenarios() {{
  local -a names
  names=(${{(f)"$({})"}})
  _alternative 'scenarios:scenario:compadd -a names' 'files:file:_files'
}}
_sm100sim() {{
  local -a commands
  local context state state_descr line
  typeset -A opt_args
  commands=(
{}  )
  _arguments -C '1:command:->command' '*::argument:->argument' '(- *)'{{-h,--help}}'[help]' '(- *)--version[version]'
  case $state in
    command) _describe command commands; return ;;
  esac
  case $line[1] in
{}  esac
}}
if [ "$funcstack[1]" = _sm100sim ]; then _sm100sim "$@"; else compdef _sm100sim sm100sim; fi
)sh",
                     kScenarioNames, commands, cases);
}

// ---- fish

std::string fish_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string fish_argument(WordKind kind, const std::vector<std::string>& words) {
  switch (kind) {
    case WordKind::words: return fmt::format(" -x -a '{}'", joined(words));
    case WordKind::file: return " -r -F";
    case WordKind::folder: return " -x -a '(__fish_complete_directories)'";
    case WordKind::scenario: return " -k -a '(__sm100sim_scenarios)'";
    case WordKind::nothing: break;
  }
  return " -x";
}

std::string fish(const ProgramDescription& program) {
  std::string text = fmt::format(R"(# fish completion of sm100sim.  Made by: sm100sim completion fish
function __sm100sim_scenarios
    {}
end
complete -c sm100sim -n __fish_use_subcommand -f
)",
                                 kScenarioNames);
  for (const CommandDescription& command : program.commands)
    text += fmt::format("complete -c sm100sim -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        fish_text(command.description));
  for (const CommandDescription& command : program.commands) {
    const std::string condition =
        fmt::format("complete -c sm100sim -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionDescription& option : command.options) {
      if (option.names.empty()) {
        if (option.kind == WordKind::words || option.kind == WordKind::scenario)
          text += condition + fish_argument(option.kind, option.words) + "\n";
        continue;
      }
      text += condition;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) text += fish_argument(option.kind, option.words);
      text += fmt::format(" -d '{}'\n", fish_text(option.description));
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const ProgramDescription& program, std::string_view shell) {
  if (shell == "zsh") return zsh(program);
  if (shell == "fish") return fish(program);
  return bash(program);
}

}  // namespace sm100::sim::cli
