// SPDX-License-Identifier: Apache-2.0
/// Writes a launch as files that `sm100sim ptx` runs again: launch_3.ptx, launch_3.toml and the bytes of memory
/// ahead of it, launch_3.memory_0.bin and so on.
#pragma once

#include <filesystem>

#include "exec/launch.h"

namespace sm100::exec {

/// Throws host::InputError, one sentence that begins with --save.
/// @param device  a scenario with the profile and the number of SMs
void save_launch(const std::filesystem::path& folder, const Launch& launch, const host::Scenario& device);

}  // namespace sm100::exec
