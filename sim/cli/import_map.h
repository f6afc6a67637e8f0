// SPDX-License-Identifier: Apache-2.0
/// An import map in TOML (traces/maps/, docs/compare.md).
#pragma once

#include <filesystem>

#include "traces/exchange/chrome_import.h"

namespace sm100::sim::cli {

/// Throws InputError, one line with file, line, key, value and what is allowed.
traces::ChromeImportMap load_import_map(const std::filesystem::path& file);

}  // namespace sm100::sim::cli
