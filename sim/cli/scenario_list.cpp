// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/scenario_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "kernels/host/kernel_definition.h"
#include "kernels/host/launch_tables.h"
#include "kernels/host/toml_reader.h"
#include "sim/cli/known_check.h"
#include "sim/cli/scenario_directory.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

namespace fs = std::filesystem;

/// Of the [[launch]] tables.
std::vector<std::string> kernels_of(const TomlDocument& document, const TomlTable& root) {
  std::vector<std::string> names;
  for (const LaunchSpec& launch : read_launch_heads(document, root)) names.emplace_back(launch.kernel->name);
  return names;
}

/// "matmul + reduce"
std::string kernels_text(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, " + "));
}

/// The row's kernel, or one of its launches'.
bool has_kernel(const Json& row, const std::string& name) {
  if (row["kernel"].is_null()) return false;
  const std::string all = " + " + row["kernel"].get<std::string>() + " + ";
  return all.find(" + " + name + " + ") != std::string::npos;
}

Json scenario_json(const fs::path& file) {
  Json row = {{"name", file.lexically_relative(scenario_directory()).string()},
              {"kernel", Json()},
              {"profile", Json()},
              {"description", ""},
              {"error", Json()}};
  try {
    const TomlDocument document(file);
    const TomlTable root = document.root({"kernel", "profile", "description", "sound", "problem", "config",
                                          "launch", "run", "fault", "delay", "expect"});
    for (const char* key : {"kernel", "profile", "description"})
      if (root.has(key)) row[key] = one_line(root.string(key));
    if (root.has("launch")) row["kernel"] = kernels_text(kernels_of(document, root));
  } catch (const InputError& error) { row["error"] = error.lines().front(); }
  return row;
}

void require_kernel(const std::string& name) {
  std::vector<std::string> names;
  for (const KernelDefinition* kernel : kernels()) names.emplace_back(kernel->name);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw InputError(one_line(fmt::format("sm100sim: list --kernel: '{}' is not a kernel; allowed are {}", name,
                                          fmt::join(names, ", "))));
}

/// Files of the folder; the folder may not lead out of the scenarios' directory.
std::vector<fs::path> files_of(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  const bool inside = path.is_relative() && (path.empty() || *path.begin() != "..");
  if (!inside || !fs::is_directory(scenario_directory() / path))
    throw InputError(one_line(
        fmt::format("sm100sim: list scenarios: no folder '{}' in {}", folder, scenario_directory().string())));
  return scenario_files(path);
}

std::string cell_text(const Json& row, const char* key) { return row[key].get<std::string>(); }

}  // namespace

Json scenarios_json(const ScenarioFilter& filter) {
  if (scenario_files().empty())
    throw InputError(fmt::format("{}: no scenarios here (SM100SIM_SCENARIOS names their directory)",
                                 scenario_directory().string()));
  if (!filter.kernel.empty()) require_kernel(filter.kernel);
  const Check* check = filter.check.empty() ? nullptr : &known_check(filter.check);
  Json rows = Json::array();
  for (const fs::path& file : files_of(filter.folder)) {
    Json row = scenario_json(file);
    if (!filter.kernel.empty() && !has_kernel(row, filter.kernel)) continue;
    if (check && !is_shown_by(*check, file)) continue;
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_scenarios(const ScenarioFilter& filter) {
  const Json rows = scenarios_json(filter);
  size_t width = 0;
  for (const Json& row : rows) width = std::max(width, cell_text(row, "name").size());
  fmt::print("  in {}:\n", scenario_directory().string());
  if (rows.empty()) fmt::print("  none fits\n");
  for (const Json& row : rows)
    fmt::print("  {:<{}}  {}\n", cell_text(row, "name"), width,
               row["error"].is_null() ? cell_text(row, "description") : cell_text(row, "error"));
}

}  // namespace sm100::sim::cli
