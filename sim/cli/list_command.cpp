/// sm100sim list [kernels|profiles|scenarios|isa|faults]: what there is to run, what of the instruction set is modelled,
/// and what [[fault]] can alter.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"
#include "sim/cli/commands.h"
#include "sim/isa_support.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

namespace fs = std::filesystem;

/// The source tree's scenarios, or the directory that SM100SIM_SCENARIOS names.
fs::path scenario_directory() {
  const char* chosen = std::getenv("SM100SIM_SCENARIOS");
  return chosen && *chosen ? chosen : SM100_SCENARIO_DIR;
}

void list_kernels() {
  const std::pair<std::string_view, const char*> kernels[] = {
      {kMatmul, "dense GEMM, C = A * B^T: scheduler, load, MMA and four epilogue warps, CLC, TMA store (SM100)"},
      {kPipelineCopy,
       "copies a matrix: load warp, TMA ring, four consumer warps, TMA store, clusters with multicast "
       "(SM90 and SM100)"},
      {kFallback,
       "dense GEMM, C = A * B^T: one tile per CTA, four warps without roles, guarded stores, any N (SM100)"}};
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
        document.root({"kernel", "profile", "description", "problem", "config", "run", "fault", "expect"});
    return root.has("description") ? one_line(root.string("description")) : "";
  } catch (const InputError& error) { return error.lines().front(); }
}

void list_scenarios() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(scenario_directory(), error))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  if (files.empty())
    throw InputError(fmt::format("{}: no scenarios here (SM100SIM_SCENARIOS names their directory)",
                                 scenario_directory().string()));
  std::sort(files.begin(), files.end());
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
  const std::pair<unsigned, std::string_view> kernels[] = {
      {kFaultsMatmul, kMatmul}, {kFaultsCopy, kPipelineCopy}, {kFaultsFallback, kFallback}};
  for (const FaultInstruction& row : kFaultInstructions) {
    std::vector<std::string_view> callers;
    for (const auto& [bit, kernel] : kernels)
      if (row.kernels & bit) callers.push_back(kernel);
    fmt::print("  {}  in {}\n      {}\n", row.name,
               callers.empty() ? "no kernel" : fmt::format("{}", fmt::join(callers, ", ")), actions_of(row));
  }
}

void list(const std::string& what) {
  const std::pair<const char*, void (*)()> lists[] = {{"kernels", list_kernels},
                                                      {"profiles", list_profiles_with_names},
                                                      {"scenarios", list_scenarios},
                                                      {"isa", list_isa},
                                                      {"faults", list_faults}};
  for (const auto& [word, print] : lists) {
    if (!what.empty() && what != word) continue;
    if (what.empty()) fmt::print("{}\n", word);
    print();
  }
}

}  // namespace

void add_list_command(CLI::App& app, int& exit_code) {
  auto what = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("list", "List kernels, profiles, scenarios, the modelled instructions or the faults");
  command->add_option("WHAT", *what, "kernels, profiles, scenarios, isa or faults; all if left out")
      ->check(CLI::IsMember({"kernels", "profiles", "scenarios", "isa", "faults"}));
  command->callback([what, &exit_code] {
    list(*what);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
