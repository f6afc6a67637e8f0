// SPDX-License-Identifier: Apache-2.0
/// The standard streams of a command line program.
#pragma once

#include <string_view>

namespace sm100::sim::cli {

/// A line on standard error.  Nothing happens where standard error takes nothing (closed, a full disk): the exit
/// code says the same.
void say(std::string_view line) noexcept;

/// Standard streams that are closed would be the next files to be opened, and messages would go into them.
void keep_standard_streams();

}  // namespace sm100::sim::cli
