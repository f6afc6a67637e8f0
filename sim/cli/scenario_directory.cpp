// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/scenario_directory.h"

#include <algorithm>

namespace sm100::sim::cli {

namespace fs = std::filesystem;

std::vector<fs::path> scenario_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(scenario_directory() / folder, error))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace sm100::sim::cli
