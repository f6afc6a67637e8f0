// SPDX-License-Identifier: Apache-2.0
/// Checks as the command line names them.
#pragma once

#include <filesystem>
#include <string>

#include "sim/checks.h"

namespace sm100::sim::cli {

/// The check of this id, however it is capitalised.  Throws InputError, one line with near ids, when there is none.
const Check& known_check(const std::string& id);

/// Whether the [expect] of a scenario names the check, as its finding or as a warning.  False for a broken file.
bool is_shown_by(const Check& check, const std::filesystem::path& scenario);

}  // namespace sm100::sim::cli
