// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/cli/command_description.h"

namespace sm100::sim::cli {
namespace {

/// Text as roff prints it: options keep their hyphens, and no line is taken for a request.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string synopsis(const std::vector<OptionDescription>& options) {
  std::string text = " [" + italic("OPTION") + " ...]";
  for (const OptionDescription& option : options) {
    if (!option.names.empty()) continue;
    const std::string value = italic(option.value) + (option.repeated ? " ..." : "");
    text += option.required ? " " + value : " [" + value + "]";
  }
  return text;
}

std::string entry(const OptionDescription& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
  if (!option.value.empty() && option.kind == WordKind::words) {
    std::string words;
    for (const std::string& word : option.words) words += (words.empty() ? "" : "|") + bold(word);
    head += head.empty() ? italic(option.value) + ": " + words : " " + words;
  } else if (!option.value.empty()) {
    head += (head.empty() ? "" : " ") + italic(option.value);
  }
  return fmt::format(".TP\n{}\n{}\n", head, roff(option.description));
}

}  // namespace

std::string manual_page(const ProgramDescription& program, std::string_view version) {
  std::string text = fmt::format(
      ".\\\" Made by: sm100sim manual\n"
      ".TH SM100SIM 1 \"\" \"sm100sim {}\" \"User Commands\"\n"
      ".SH NAME\nsm100sim \\- {}\n"
      ".SH SYNOPSIS\n.B sm100sim\n{} [{} ...]\n"
      ".SH DESCRIPTION\n"
      "The guide is docs/user\\-guide.md, with a page for each task. {} prints what there is to run.\n"
      ".SH COMMANDS\n",
      roff(version), roff(program.description), italic("COMMAND"), italic("OPTION"), bold("sm100sim list"));
  for (const CommandDescription& command : program.commands) {
    text += fmt::format(".SS \"sm100sim {}\"\n{}{}\n.PP\n{}.\n", roff(command.name),
                        bold("sm100sim " + command.name), synopsis(command.options), roff(command.description));
    for (const OptionDescription& option : command.options) text += entry(option);
    if (!command.footer.empty()) text += ".PP\n" + roff(command.footer) + "\n";
  }
  text += ".SH OPTIONS\n";
  for (const OptionDescription& option : program.options) text += entry(option);
  text += ".SH EXIT STATUS\n" + roff(program.footer) + "\n";
  text +=
      ".SH ENVIRONMENT\n"
      ".TP\n\\fBSM100SIM_INSTRUCTION_SET\\fR\nInstruction set of the hot loops; a wrong word names those that the "
      "machine has.\n"
      ".TP\n\\fBSM100SIM_PROFILES\\fR, \\fBSM100SIM_SCENARIOS\\fR, \\fBSM100SIM_LESSONS\\fR\nFolders in place of "
      "those that came with the program.\n"
      ".TP\n\\fBSM100_MEASURED_DIR\\fR\nFolder of measurements for \\fBsm100sim accuracy\\fR.\n";
  return text;
}

}  // namespace sm100::sim::cli
