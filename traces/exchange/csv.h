// SPDX-License-Identifier: Apache-2.0
/// The spans of a trace as comma-separated values (RFC 4180), for spreadsheets and data frames.
#pragma once

#include <filesystem>

#include "traces/format/schema.h"

namespace sm100::traces {

/// A header row, then a row per span in the order of their begins: its track, kind, times in ticks and all
/// arguments.  What does not apply is empty.  Same guarantees as write_pftrace.
void write_csv(const Trace& trace, const std::filesystem::path& path);

}  // namespace sm100::traces
