/// sm100sim list [kernels|profiles|scenarios|isa|checks|faults]: what there is to run, what of the instruction set is
/// modelled, what is checked, and what [[fault]] can alter.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"
#include "sim/checks.h"
#include "sim/cli/commands.h"
#include "sim/cli/scenario_directory.h"
#include "sim/isa_support.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

namespace fs = std::filesystem;

void list_kernels() {
  const std::pair<std::string_view, const char*> kernels[] = {
      {kMatmul, "dense GEMM, C = A * B^T: scheduler, load, MMA and four epilogue warps, CLC, TMA store (SM100)"},
      {kPipelineCopy,
       "copies a matrix: load warp, TMA ring, four consumer warps, TMA store, clusters with multicast "
       "(SM90 and SM100)"},
      {kFallback,
       "dense GEMM, C = A * B^T: one tile per CTA, four warps without roles, guarded stores, any N (SM100)"},
      {kDirect,
       "dense GEMM, C = A * B^T: one tile per CTA or pair, a thread per role or one for all, no TMA store "
       "(SM100)"},
      {kUmmaBatches, "microbenchmark: batches of tcgen05.mma with a commit and a wait each, no data (SM100)"},
      {kTmaTiles,
       "microbenchmark: tensor loads into rings that nobody reads, multicast too, no data (SM90 and SM100)"}};
  for (const auto& [kernel, text] : kernels) fmt::print("  {:<15}{}\n", kernel, text);
}

void list_profiles_with_names() {
  for (const std::string& name : list_profiles()) {
    const models::DeviceProfile profile = load_profile(name);
    fmt::print("  {:<12}{}, {} SMs at {} GHz\n", name, profile.name, profile.device.sms,
               profile.device.sm_clock_ghz);
  }
}

/// The scenario's own description; a broken file is listed too, with what is wrong with it.
std::string description_of(const fs::path& file) {
  try {
    const TomlDocument document(file);
    const TomlTable root =
        document.root({"kernel", "profile", "description", "sound", "problem", "config", "run", "fault", "expect"});
    return root.has("description") ? one_line(root.string("description")) : "";
  } catch (const InputError& error) { return error.lines().front(); }
}

void list_scenarios() {
  const std::vector<fs::path> files = scenario_files();
  if (files.empty())
    throw InputError(fmt::format("{}: no scenarios here (SM100SIM_SCENARIOS names their directory)",
                                 scenario_directory().string()));
  size_t width = 0;
  for (const fs::path& file : files)
    width = std::max(width, file.lexically_relative(scenario_directory()).string().size());
  fmt::print("  in {}:\n", scenario_directory().string());
  for (const fs::path& file : files)
    fmt::print("  {:<{}}  {}\n", file.lexically_relative(scenario_directory()).string(), width,
               description_of(file));
}

void list_isa() {
  size_t width = 0;
  for (const IsaSupport& row : kIsaSupport) width = std::max(width, row.instruction.size());
  for (const IsaSupport& row : kIsaSupport)
    fmt::print("  {:<{}}  {:<12}  {}\n", row.instruction, width, name(row.support), row.note);
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
      "(exit code 4; hang 3, mismatch 1); a warning does not end it.\nKB numbers are entries of the bug catalogue, "
      "one "
      "of the working papers behind this project.\n");
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

void list_faults() {
  const std::pair<unsigned, std::string_view> kernels[] = {{kFaultsMatmul, kMatmul},
                                                           {kFaultsCopy, kPipelineCopy},
                                                           {kFaultsFallback, kFallback},
                                                           {kFaultsDirect, kDirect}};
  for (const FaultInstruction& row : kFaultInstructions) {
    std::vector<std::string_view> callers;
    for (const auto& [bit, kernel] : kernels)
      if (row.kernels & bit) callers.push_back(kernel);
    fmt::print("  {}  in {}\n      {}\n", row.name,
               callers.empty() ? "no kernel" : fmt::format("{}", fmt::join(callers, ", ")), actions_of(row));
  }
}

void list(const std::string& what) {
  const std::pair<const char*, void (*)()> lists[] = {
      {"kernels", list_kernels},     {"profiles", list_profiles_with_names},
      {"scenarios", list_scenarios}, {"isa", list_isa},
      {"checks", list_checks},       {"faults", list_faults}};
  for (const auto& [word, print] : lists) {
    if (!what.empty() && what != word) continue;
    if (what.empty()) fmt::print("{}\n", word);
    print();
  }
}

}  // namespace

void add_list_command(CLI::App& app, int& exit_code) {
  struct Options {
    std::string what, format = "text";
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "list", "List kernels, profiles, scenarios, the modelled instructions, the checks or the faults");
  command->add_option("WHAT", options->what, "kernels, profiles, scenarios, isa, checks or faults; all if left out")
      ->check(CLI::IsMember({"kernels", "profiles", "scenarios", "isa", "checks", "faults"}));
  command->add_option("--format", options->format, "markdown: checks as docs/checks.md")
      ->check(CLI::IsMember({"text", "markdown"}));
  command->callback([options, &exit_code] {
    const bool markdown = options->format == "markdown";
    if (markdown && options->what != "checks")
      throw InputError("sm100sim: list --format markdown: for checks only");
    if (markdown)
      print_checks_as_markdown();
    else
      list(options->what);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
