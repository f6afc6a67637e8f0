// SPDX-License-Identifier: Apache-2.0
/// The program's file, as far as it can be refused before it runs.
#pragma once

#include <filesystem>
#include <string>

namespace sm100::exec {

/// The file that the shell would run for `command`.  Throws host::InputError: there is none.
std::filesystem::path find_program(const std::string& command);

/// Throws host::InputError, one sentence, for a program that holds CUDA code and cannot load our runtime library:
/// it has the runtime linked in, or asks for another major version.  A script or another program without CUDA code
/// passes.
void check_program(const std::filesystem::path& program);

/// The file has the name of a function that creates a stream.
bool names_streams(const std::filesystem::path& program);

}  // namespace sm100::exec
