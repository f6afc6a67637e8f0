// SPDX-License-Identifier: Apache-2.0
/// Where the files that belong to the program are: device profiles, scenarios and lessons.  No path is compiled in,
/// so an installed tree or a build folder can be moved.
#pragma once

#include <filesystem>
#include <string>

namespace sm100::host {

/// The running program, also where /proc is not mounted (a root that was just made).
std::filesystem::path program_file();

/// Directory of device profiles (*.toml): SM100SIM_PROFILES if set, else what belongs to the running program.
std::filesystem::path profile_directory();

/// Directory of the scenarios that come with the program: SM100SIM_SCENARIOS if set, else what belongs to the
/// running program.
std::filesystem::path scenario_directory();

/// Directory of the lessons (*.md): SM100SIM_LESSONS if set, else what belongs to the running program.
std::filesystem::path lesson_directory();

/// The name of a scenario: its file's name without ".toml", and without the number that gives a lesson its place in
/// the list ("dense_small" of scenarios/01_dense_small.toml).
std::string scenario_name(const std::filesystem::path& file);

}  // namespace sm100::host
