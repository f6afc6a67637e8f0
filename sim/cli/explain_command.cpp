// SPDX-License-Identifier: Apache-2.0
/// sm100sim explain CHECK...: what a check means, what hardware does, how to mend it, and which scenarios show it;
/// for an entry of the bug catalogue, what is wrong and the checks that find it.

#include <fmt/format.h>

#include <cctype>
#include <memory>

#include "sim/bug_catalogue.h"
#include "sim/checks.h"
#include "sim/cli/commands.h"
#include "sim/cli/known_check.h"
#include "sim/cli/scenario_directory.h"

namespace sm100::sim::cli {

namespace {

constexpr size_t kColumns = 100, kLabel = 13;

/// The entry of the bug catalogue ("kb-28"); null: it is none.
const CatalogueEntry* catalogue_entry(const std::string& id) {
  std::string upper = id;
  for (char& c : upper) c = char(std::toupper(static_cast<unsigned char>(c)));
  for (const CatalogueEntry& entry : kBugCatalogue)
    if (entry.id == upper) return &entry;
  return nullptr;
}

/// The checks that find it.
std::vector<const Check*> checks_of(const CatalogueEntry& entry) {
  std::vector<const Check*> found;
  for (const Check& check : kChecks)
    if ((std::string(check.catalogue) + ",").find(std::string(entry.id) + ",") != std::string::npos)
      found.push_back(&check);
  return found;
}

/// "  label        text", wrapped.
std::string paragraph(std::string_view label, std::string_view text) {
  std::string lines = fmt::format("  {:<{}}", label, kLabel);
  size_t column = lines.size();
  bool first = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!first && column + 1 + word.size() > kColumns) {
      lines += fmt::format("\n{:{}}", "", kLabel + 2);
      column = kLabel + 2;
      first = true;
    }
    lines += (first ? "" : " ") + std::string(word);
    column += word.size() + (first ? 0 : 1);
    first = false;
  }
  return lines + "\n";
}

/// Scenarios of broken kernels whose [expect] names the check.
std::string scenarios_of(const Check& check) {
  std::string text;
  for (const std::filesystem::path& file : scenario_files("bugs"))
    if (is_shown_by(check, file))
      text += (text.empty() ? "" : ", ") + file.lexically_relative(scenario_directory()).string();
  return text;
}

std::string explain(const Check& check) {
  std::string text = fmt::format("{} ({})  {}\n", check.id, name(check.severity), check.title);
  text += paragraph("means", check.meaning);
  text += paragraph("on hardware", check.symptom);
  text += paragraph("mend", check.mend);
  if (!check.source.empty()) text += paragraph("source", check.source);
  if (!check.catalogue.empty()) text += paragraph("catalogue", check.catalogue);
  if (const std::string scenarios = scenarios_of(check); !scenarios.empty())
    text += paragraph("scenarios", scenarios);
  return text;
}

std::string explain(const CatalogueEntry& entry) {
  std::string text = fmt::format("{}  {}\n", entry.id, entry.bug);
  text += paragraph("effect", entry.effect);
  if (!entry.absent.empty()) text += paragraph("not here", entry.absent);
  if (!entry.reports.empty()) text += paragraph("reports", entry.reports);
  for (const Check* check : checks_of(entry)) text += "\n" + explain(*check);
  return text;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto ids = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("explain", "What a check means and how to mend what it finds");
  command
      ->add_option("CHECK", *ids, "Ids of findings or warnings, as MB5 or hang, or of the bug catalogue, as KB-28")
      ->required();
  command->callback([ids, &exit_code] {
    std::string text;
    for (const std::string& id : *ids) {
      const CatalogueEntry* entry = catalogue_entry(id);
      text += (text.empty() ? "" : "\n") + (entry ? explain(*entry) : explain(known_check(id)));
    }
    fmt::print("{}", text);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
