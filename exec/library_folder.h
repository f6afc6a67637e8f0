// SPDX-License-Identifier: Apache-2.0
/// Where the runtime library of exec/shim lies: beside this program, in PREFIX/lib/sm100sim or in the build folder.
#pragma once

#include <filesystem>

namespace sm100::exec {

/// Throws host::InputError: this build has no such library.
std::filesystem::path library_folder();

}  // namespace sm100::exec
