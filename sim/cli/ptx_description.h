// SPDX-License-Identifier: Apache-2.0
/// `sm100sim ptx --describe`: a launch file for an entry, as far as its text says what is launched.
#pragma once

#include <string>

#include "ptx/module.h"

namespace sm100::sim::cli {

/// TOML with a comment "FILL IN" where the text does not say it.
/// @param file  of the PTX, as the launch file is to name it
std::string launch_description(const ptx::Module& module, const ptx::Entry& entry, const std::string& file);

}  // namespace sm100::sim::cli
