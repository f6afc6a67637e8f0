#include "sim/cli/scenario_directory.h"

#include <algorithm>
#include <cstdlib>

namespace sm100::sim::cli {

namespace fs = std::filesystem;

fs::path scenario_directory() {
  const char* chosen = std::getenv("SM100SIM_SCENARIOS");
  return chosen && *chosen ? chosen : SM100_SCENARIO_DIR;
}

std::vector<fs::path> scenario_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(scenario_directory() / folder, error))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace sm100::sim::cli
