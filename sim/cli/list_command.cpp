// SPDX-License-Identifier: Apache-2.0
/// sm100sim list [kernels|profiles|scenarios [FOLDER]|isa|checks|faults]: what there is to run, what of the
/// instruction set is modelled, what is checked, and what [[fault]] can alter.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"
#include "kernels/isa/instructions/catalogue.h"
#include "sim/checks.h"
#include "sim/cli/commands.h"
#include "sim/cli/json_output.h"
#include "sim/cli/scenario_directory.h"
#include "sim/cli/scenario_list.h"
#include "traces/format/compressed_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

std::string text_of(const Json& row, const char* key) { return row[key].get<std::string>(); }

/// Each list is made once, as JSON; text is printed from it.
Json kernels_json() {
  Json rows = Json::array();
  for (const KernelDefinition* kernel : kernels())
    rows.push_back({{"name", kernel->name}, {"text", kernel->description}});
  return rows;
}

void list_kernels() {
  const Json rows = kernels_json();
  size_t width = 0;
  for (const Json& row : rows) width = std::max(width, text_of(row, "name").size());
  for (const Json& row : rows) fmt::print("  {:<{}}  {}\n", text_of(row, "name"), width, text_of(row, "text"));
}

Json profiles_json() {
  Json rows = Json::array();
  for (const std::string& name : list_profiles()) {
    const models::DeviceProfile profile = load_profile(name);
    rows.push_back({{"name", name},
                    {"device", profile.name},
                    {"sms", profile.device.sms},
                    {"sm_clock_ghz", profile.device.sm_clock_ghz}});
  }
  return rows;
}

void list_profiles_with_names() {
  for (const Json& row : profiles_json())
    fmt::print("  {:<12}{}, {} SMs at {} GHz\n", text_of(row, "name"), text_of(row, "device"),
               row["sms"].get<int>(), row["sm_clock_ghz"].get<double>());
}

Json isa_json() {
  Json rows = Json::array();
  for (const instructions::SupportLine& row : instructions::support_lines())
    rows.push_back({{"instruction", row.instruction}, {"support", name(row.support)}, {"note", row.note}});
  return rows;
}

void list_isa() {
  const std::vector<instructions::SupportLine> rows = instructions::support_lines();
  size_t width = 0;
  for (const instructions::SupportLine& row : rows) width = std::max(width, row.instruction.size());
  for (const instructions::SupportLine& row : rows)
    fmt::print("  {:<{}}  {:<12}  {}\n", row.instruction, width, name(row.support), row.note);
}

Json checks_json() {
  Json rows = Json::array();
  for (const Check& check : kChecks)
    rows.push_back({{"id", check.id},
                    {"severity", name(check.severity)},
                    {"title", check.title},
                    {"means", check.meaning},
                    {"on_hardware", check.symptom},
                    {"mend", check.mend},
                    {"source", text_or_null(check.source)},
                    {"catalogue", text_or_null(check.catalogue)}});
  return rows;
}

void list_checks() {
  for (const Check& check : kChecks) fmt::print("  {:<16}{:<9}{}\n", check.id, name(check.severity), check.title);
}

/// docs/checks.md.
void print_checks_as_markdown() {
  fmt::print(
      "# Checks\n\nWhat the simulator reports, by id: `sm100sim list checks --format markdown` writes this page, "
      "`sm100sim explain ID` prints one entry\nwith the scenarios that show it. An error ends the run with a "
      "finding "
      "(exit code 4; hang 3, mismatch 1); a warning does not end it.\nKB numbers are entries of "
      "[the bug catalogue](bugs.md#the-catalogue).\n");
  for (const Check& check : kChecks) {
    fmt::print("\n## {}: {}\n\n*{}*. {}\n\n- **On hardware**: {}\n- **Mend**: {}\n", check.id, check.title,
               name(check.severity), check.meaning, check.symptom, check.mend);
    if (!check.source.empty()) fmt::print("- **Source**: {}\n", check.source);
    if (!check.catalogue.empty()) fmt::print("- **Catalogue**: {}\n", check.catalogue);
  }
}

/// "drop, delay, add (rank, address)"
std::string actions_of(const FaultInstruction& row) {
  std::string text;
  for (const std::string_view action : row.action_names()) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", action);
    if (action == name(FaultAction::add)) text += fmt::format(" ({})", fmt::join(row.operand_names(), ", "));
  }
  return text;
}

std::vector<std::string_view> callers_of(const FaultInstruction& row) {
  std::vector<std::string_view> callers;
  for (const KernelDefinition* kernel : kernels()) {
    const auto& calls = kernel->fault_instructions;
    if (std::find(calls.begin(), calls.end(), row.name) != calls.end()) callers.push_back(kernel->name);
  }
  return callers;
}

Json faults_json() {
  Json rows = Json::array();
  for (const FaultInstruction& row : faultable_instructions())
    rows.push_back({{"instruction", row.name},
                    {"kernels", callers_of(row)},
                    {"actions", row.action_names()},
                    {"operands", row.operand_names()}});
  return rows;
}

void list_faults() {
  for (const FaultInstruction& row : faultable_instructions()) {
    const std::vector<std::string_view> callers = callers_of(row);
    fmt::print("  {}  in {}\n      {}\n", row.name,
               callers.empty() ? "no kernel" : fmt::format("{}", fmt::join(callers, ", ")), actions_of(row));
  }
}

struct List {
  const char* word;
  void (*print)();
  Json (*json)();
};
constexpr List kLists[] = {{"kernels", list_kernels, kernels_json},
                           {"profiles", list_profiles_with_names, profiles_json},
                           {"scenarios", nullptr, nullptr},  // the only list that is filtered
                           {"isa", list_isa, isa_json},
                           {"checks", list_checks, checks_json},
                           {"faults", list_faults, faults_json}};

void list(const std::string& what, const ScenarioFilter& filter) {
  for (const List& entry : kLists) {
    if (!what.empty() && what != entry.word) continue;
    if (what.empty()) fmt::print("{}\n", entry.word);
    entry.print ? entry.print() : print_scenarios(filter);
  }
}

Json list_json(const std::string& what, const ScenarioFilter& filter) {
  Json json = json_document("list");
  for (const List& entry : kLists)
    if (what.empty() || what == entry.word) json[entry.word] = entry.json ? entry.json() : scenarios_json(filter);
  if (json.contains("scenarios")) json["host"] = {{"scenario_directory", scenario_directory().string()}};
  return json;
}

}  // namespace

void add_list_command(CLI::App& app, int& exit_code) {
  struct Options {
    std::string what, format = "text", json;
    ScenarioFilter filter;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "list", "List kernels, profiles, scenarios, the modelled instructions, the checks or the faults");
  command->add_option("WHAT", options->what, "kernels, profiles, scenarios, isa, checks or faults; all if left out")
      ->check(CLI::IsMember({"kernels", "profiles", "scenarios", "isa", "checks", "faults"}));
  command->add_option("FOLDER", options->filter.folder, "scenarios: those below this folder, as bugs/bytes");
  command->add_option("--kernel", options->filter.kernel, "scenarios: those of this kernel")->check(some_text());
  command->add_option("--check", options->filter.check, "scenarios: those that expect this finding or warning")
      ->check(some_text());
  command->add_option("--format", options->format, "markdown: checks as docs/checks.md")
      ->check(CLI::IsMember({"text", "markdown"}));
  command->add_option("--json", options->json, "Write the lists as JSON; - prints them instead of the text")
      ->type_name("FILE")
      ->check(file_name());
  command->callback([options, &exit_code] {
    const bool markdown = options->format == "markdown";
    if (markdown && options->what != "checks")
      throw InputError("sm100sim: list --format markdown: for checks only");
    if (!options->filter.empty() && options->what != "scenarios")
      throw InputError("sm100sim: list: FOLDER, --kernel and --check are for scenarios only");
    if (markdown && !options->json.empty()) throw InputError("sm100sim: list: one of --format markdown and --json");
    check_json_path(options->json, "");
    if (!options->json.empty()) write_json(options->json, list_json(options->what, options->filter));
    if (markdown)
      print_checks_as_markdown();
    else if (!traces::is_standard_stream(options->json))
      list(options->what, options->filter);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
