// SPDX-License-Identifier: Apache-2.0
/// sm100sim explain CHECK...: what a check means, what hardware does, how to mend it, and which scenarios show it.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "kernels/host/scenario.h"
#include "sim/checks.h"
#include "sim/cli/commands.h"
#include "sim/cli/scenario_directory.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

constexpr size_t kColumns = 100, kLabel = 13;

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Edits (a letter more, less or another) from one word to the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same =
          std::tolower(static_cast<unsigned char>(a[i - 1])) == std::tolower(static_cast<unsigned char>(b[j - 1]));
      const size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// The checks of the same unit (MB1, MB2 ... for an MB that does not exist), else those that are spelled alike, else none.
std::string near_ids(std::string_view id) {
  std::string text;
  const auto collect = [&](auto&& near) {
    for (const Check& check : kChecks)
      if (near(check.id)) text += fmt::format("{}{}", text.empty() ? "" : ", ", check.id);
  };
  if (id.size() > 2)
    collect([&](std::string_view known) { return same_letters(known.substr(0, 2), id.substr(0, 2)); });
  if (text.empty()) collect([&](std::string_view known) { return distance(known, id) <= 1 + id.size() / 4; });
  return text;
}

/// Of the bug catalogue: "KB-28" stands for the checks that find it.
std::vector<const Check*> checks_of(const std::string& entry) {
  std::string upper = entry;
  for (char& c : upper) c = char(std::toupper(static_cast<unsigned char>(c)));
  std::vector<const Check*> found;
  for (const Check& check : kChecks)
    if ((std::string(check.catalogue) + ",").find(upper + ",") != std::string::npos) found.push_back(&check);
  return found;
}

const Check& known_check(const std::string& id) {
  for (const Check& check : kChecks)
    if (same_letters(check.id, id)) return check;
  const std::string near = near_ids(id);
  throw InputError(fmt::format("sm100sim: '{}' is not a check; {}", id,
                               near.empty() ? "sm100sim list checks shows all" : "near ones are " + near));
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
  for (const std::filesystem::path& file : scenario_files("bugs")) {
    try {
      const Expectation expect = load_scenario(file).expect;
      if (expect.id != std::string(check.id) && expect.warning != std::string(check.id)) continue;
      text += (text.empty() ? "" : ", ") + file.lexically_relative(scenario_directory()).string();
    } catch (const InputError&) { continue; }  // `list scenarios` says what is wrong with it
  }
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

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto ids = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("explain", "What a check means and how to mend what it finds");
  command->add_option("CHECK", *ids, "Ids of findings or warnings, as MB5 or hang")->required();
  command->callback([ids, &exit_code] {
    std::string text;
    for (const std::string& id : *ids) {
      std::vector<const Check*> checks = checks_of(id);
      if (checks.empty()) checks = {&known_check(id)};
      for (const Check* check : checks) text += (text.empty() ? "" : "\n") + explain(*check);
    }
    fmt::print("{}", text);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
