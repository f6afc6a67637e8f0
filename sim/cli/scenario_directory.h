// SPDX-License-Identifier: Apache-2.0
/// Where the scenarios are that commands list.
#pragma once

#include <filesystem>
#include <vector>

#include "kernels/host/data_directory.h"

namespace sm100::sim::cli {

using host::scenario_directory;

/// All scenario files below `folder` of that directory, sorted.
std::vector<std::filesystem::path> scenario_files(const std::filesystem::path& folder = {});

}  // namespace sm100::sim::cli
