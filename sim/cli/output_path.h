// SPDX-License-Identifier: Apache-2.0
/// Output files of the commands: refused before work starts, written whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace sm100::sim::cli {

/// Throws InputError unless `path` can be written.  Leaves no file behind.
/// @param option  what names the path on the command line, "--trace"
/// @param input   the command's input, which must not be overwritten
void check_output_path(std::string_view option, const std::filesystem::path& path,
                       const std::filesystem::path& input);

/// Runs `write` and turns what it throws (a full disk) into InputError.
void write_output(std::string_view option, const std::function<void()>& write);

}  // namespace sm100::sim::cli
