/// Where the scenarios are that commands list.
#pragma once

#include <filesystem>
#include <vector>

namespace sm100::sim::cli {

/// The source tree's scenarios, or the directory that SM100SIM_SCENARIOS names.
std::filesystem::path scenario_directory();

/// All scenario files below `folder` of that directory, sorted.
std::vector<std::filesystem::path> scenario_files(const std::filesystem::path& folder = {});

}  // namespace sm100::sim::cli
