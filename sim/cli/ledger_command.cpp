// SPDX-License-Identifier: Apache-2.0
/// sm100sim ledger: which mbarriers a kernel has, who arrives on them with what, and who waits.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "kernels/host/run_plan.h"
#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "sim/cli/json_output.h"
#include "sim/cli/scenario_name.h"
#include "sim/ledger.h"
#include "sim/run_json.h"
#include "sim/simulation.h"
#include "sim/text.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct LedgerOptions {
  std::string file, launch, entry, names, format = "text";
  std::vector<std::string> sets;
};

/// A kernel of the run and its ledger.
struct KernelLedger {
  std::string name, title;
  Ledger ledger;
};

// ---------------------------------------------------------------- words

/// "4", "2 to 4"
std::string range(uint64_t least, uint64_t most) {
  return least == most ? grouped(int64_t(most))
                       : fmt::format("{} to {}", grouped(int64_t(least)), grouped(int64_t(most)));
}

std::string phases(uint64_t least, uint64_t most) {
  return fmt::format("{} phase{}", range(least, most), most == 1 ? "" : "s");
}

std::string name_of(const LedgerRow& row) { return fmt::format("{}[{}]", row.barrier, row.stages); }

std::string bytes_text(const LedgerRow& row) {
  std::vector<std::string> totals;
  constexpr size_t kMostShown = 4;
  for (size_t i = 0; i < row.bytes.size() && i < kMostShown; ++i) totals.push_back(grouped(int64_t(row.bytes[i])));
  if (row.bytes.size() > kMostShown) totals.emplace_back("...");
  return fmt::format("{}", fmt::join(totals, " or "));
}

std::string phases_text(const LedgerRow& row, const Ledger& ledger) {
  const bool per_tile = ledger.least_tiles > 0 && ledger.least_tiles == ledger.most_tiles &&
                        row.least_phases == row.most_phases && row.most_phases % ledger.most_tiles == 0;
  if (per_tile) return phases(row.most_phases / ledger.most_tiles, row.most_phases / ledger.most_tiles) + " a tile";
  return phases(row.least_phases, row.most_phases) + " a CTA";
}

/// "load: mbarrier.arrive.expect_tx gemm.ptx:83"
std::string entry_text(const LedgerEntry& e) {
  std::string text = fmt::format("{}: {}  {}", e.role, e.instruction, e.location);
  if (e.tests) text += " (tests)";
  if (!e.parities.empty())
    text += fmt::format("  parity {}{}", fmt::join(e.parities, ", "), e.times > e.parities.size() ? ", ..." : "");
  return e.times == 0 ? text + "  (not executed in this run)" : text;
}

std::string ledger_text(const KernelLedger& kernel) {
  const Ledger& ledger = kernel.ledger;
  std::string text = fmt::format("{}: {} array{} of mbarriers", kernel.title, ledger.rows.size(),
                                 ledger.rows.size() == 1 ? "" : "s");
  if (ledger.most_tiles > 0)
    text += fmt::format(", {} tile{} a CTA", range(ledger.least_tiles, ledger.most_tiles),
                        ledger.most_tiles == 1 ? "" : "s");
  text += "\n";
  for (const LedgerRow& row : ledger.rows) {
    text += fmt::format("\n{}  at {:#x}, {} arrival{} a phase{}, {}\n", name_of(row), row.offset, row.count,
                        row.count == 1 ? "" : "s", row.bytes.empty() ? "" : ", " + bytes_text(row) + " bytes",
                        phases_text(row, ledger));
    const auto add = [&](const char* what, const std::vector<LedgerEntry>& entries) {
      for (const LedgerEntry& e : entries) text += fmt::format("  {:<8} {}\n", what, entry_text(e));
    };
    add("init", row.inits), add("arrives", row.arrivals), add("bytes", row.copies), add("waits", row.waits);
    if (row.arrivals.empty()) text += "  arrives  nobody\n";
    if (row.waits.empty()) text += "  waits    nobody\n";
  }
  return text;
}

std::string markdown_of(const KernelLedger& kernel) {
  std::string text = fmt::format(
      "### {}\n\n| barrier | count | bytes per phase | arrives | brings bytes | waits | phases |\n"
      "|---|---|---|---|---|---|---|\n",
      kernel.title);
  const auto cell = [](const std::vector<LedgerEntry>& entries) {
    std::vector<std::string> texts;
    for (const LedgerEntry& e : entries) texts.push_back(entry_text(e));
    return texts.empty() ? std::string("–") : fmt::format("{}", fmt::join(texts, "<br>"));
  };
  for (const LedgerRow& row : kernel.ledger.rows)
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", name_of(row), row.count,
                        row.bytes.empty() ? "–" : bytes_text(row), cell(row.arrivals), cell(row.copies),
                        cell(row.waits), phases_text(row, kernel.ledger));
  return text;
}

Json entries_json(const std::vector<LedgerEntry>& entries) {
  Json rows = Json::array();
  for (const LedgerEntry& e : entries) {
    Json row = {{"role", e.role},
                {"instruction", e.instruction},
                {"location", text_or_null(e.location)},
                {"times", e.times}};
    if (e.place.ptx.line > 0) row["ptx_line"] = e.place.ptx.line;
    if (!e.parities.empty()) row["parities"] = e.parities, row["tests"] = e.tests;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json json_of(const LedgerOptions& options, const std::vector<KernelLedger>& kernels) {
  Json json = json_document("ledger");
  json["scenario"] = options.launch.empty() ? options.file : options.launch;
  json["kernels"] = Json::array();
  for (const KernelLedger& kernel : kernels) {
    Json rows = Json::array();
    for (const LedgerRow& row : kernel.ledger.rows)
      rows.push_back({{"barrier", row.barrier},
                      {"offset", row.offset},
                      {"stages", row.stages},
                      {"count", row.count},
                      {"bytes_per_phase", row.bytes},
                      {"inits", entries_json(row.inits)},
                      {"arrives", entries_json(row.arrivals)},
                      {"copies", entries_json(row.copies)},
                      {"waits", entries_json(row.waits)},
                      {"ctas", row.ctas},
                      {"phases_per_cta", {row.least_phases, row.most_phases}}});
    const bool tiles = kernel.ledger.most_tiles > 0;
    json["kernels"].push_back(
        {{"kernel", text_or_null(kernel.name)},
         {"title", kernel.title},
         {"tiles_per_cta", tiles ? Json{kernel.ledger.least_tiles, kernel.ledger.most_tiles} : Json()},
         {"barriers", rows}});
  }
  return json;
}

// ---------------------------------------------------------------- the run

Scenario scenario_of(const LedgerOptions& options) {
  if (options.launch.empty()) {
    if (std::filesystem::path(options.file).extension() == ".ptx")
      throw InputError(fmt::format("{}: needs --launch FILE, which says how the kernel is launched", options.file));
    return load_scenario(scenario_file(options.file), options.sets);
  }
  std::vector<std::string> sets = options.sets;
  const auto absolute = [](const std::string& file) { return std::filesystem::absolute(file).string(); };
  sets.insert(sets.begin(), fmt::format("problem.ptx=\"{}\"", absolute(options.file)));
  if (!options.entry.empty()) sets.push_back(fmt::format("problem.entry=\"{}\"", options.entry));
  if (!options.names.empty()) sets.push_back(fmt::format("problem.names=\"{}\"", absolute(options.names)));
  return load_scenario(scenario_file(options.launch), sets);
}

std::vector<KernelLedger> ledgers_of(const Scenario& scenario) {
  LedgerKeeper keeper;
  Simulation simulation(scenario);
  barrier_listener() = &keeper;
  simulation.run();
  barrier_listener() = nullptr;
  const RunPlan plan = plan_of(scenario);
  std::vector<KernelLedger> ledgers;
  for (const Kernel& kernel : simulation.kernels()) {
    const PlannedKernel& planned = plan.kernels[kernel.index];
    ledgers.push_back({planned.name, planned.run->title(), keeper.ledger(kernel)});
  }
  const RunResult result = simulation.result();
  if (!result.report.empty())
    fmt::print(stderr, "warning: the run did not end as it should, the ledger is of what it did:\n{}",
               result.report);
  return ledgers;
}

void ledger(const LedgerOptions& options) {
  const std::vector<KernelLedger> kernels = ledgers_of(scenario_of(options));
  if (options.format == "json") return write_json("-", json_of(options, kernels));
  for (size_t i = 0; i < kernels.size(); ++i)
    fmt::print("{}{}", i > 0 ? "\n" : "",
               options.format == "markdown" ? markdown_of(kernels[i]) : ledger_text(kernels[i]));
}

}  // namespace

void add_ledger_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LedgerOptions>();
  CLI::App* command = app.add_subcommand(
      "ledger", "The mbarriers of a kernel: counts, bytes, who arrives with what, who waits, phases");
  command->add_option("FILE", options->file, "Scenario, or with --launch a PTX file")->required();
  CLI::Option* launch = command->add_option("--launch", options->launch, "How the PTX is launched (docs/ptx.md)")
                            ->type_name("FILE")
                            ->check(file_name());
  command->add_option("--entry", options->entry, "The entry with this in its name")
      ->type_name("NAME")
      ->needs(launch)
      ->check(some_text());
  command->add_option("--names", options->names, "What barriers and warps are called (docs/ptx.md)")
      ->type_name("FILE")
      ->needs(launch)
      ->check(file_name());
  command->add_option("--set", options->sets, "Replace a value of the scenario: table.key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--format", options->format, "How it is printed")
      ->check(CLI::IsMember({"text", "markdown", "json"}));
  command->callback([options, &exit_code] {
    ledger(*options);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
