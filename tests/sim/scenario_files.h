// SPDX-License-Identifier: Apache-2.0
/// The project's scenarios, by their names below scenarios/ ("bugs/phases/stale_stage").
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "paths.h"

namespace sm100::sim {

/// Names of the scenarios in one folder, "" for the top, sorted.
inline std::vector<std::string> scenario_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(source_dir()) / "scenarios" / folder))
    if (entry.path().extension() == ".toml") names.push_back((folder / entry.path().stem()).string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The folders in one folder, sorted.
inline std::vector<std::filesystem::path> scenario_folders(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(source_dir()) / "scenarios" / folder))
    if (entry.is_directory()) folders.push_back(folder / entry.path().filename());
  std::sort(folders.begin(), folders.end());
  return folders;
}

inline host::Scenario load_by_name(const std::string& name) {
  const std::filesystem::path file = std::filesystem::path("scenarios") / (name + ".toml");
  host::Scenario s = host::load_scenario(std::filesystem::path(source_dir()) / file);
  s.path = file;  // as a user in the source directory names it
  return s;
}

}  // namespace sm100::sim
