// SPDX-License-Identifier: Apache-2.0
/// Scenarios as the command line names them.
#pragma once

#include <filesystem>
#include <string>

namespace sm100::sim::cli {

/// The file that `text` means: a path, else a name that `sm100sim list scenarios` prints, with or without ".toml"
/// and a lesson's number ("dense_small", "copy/four_stages").  Throws InputError, one line with near names, when
/// there is neither.
std::filesystem::path scenario_file(const std::string& text);

}  // namespace sm100::sim::cli
