// SPDX-License-Identifier: Apache-2.0
/// The trace file: a Perfetto protobuf trace (.pftrace).  docs/trace-format.md is its specification.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "traces/format/schema.h"

namespace sm100::traces {

/// Writes to a temporary file beside `path` and renames it, so a reader never sees half a trace.
/// Throws std::runtime_error, one line, when the file cannot be written or the trace contradicts itself (a
/// span that ends before it begins, a track or name index out of range).
void write_pftrace(const Trace& trace, const std::filesystem::path& path);
/// The same bytes, for another process.
void write_pftrace(const Trace& trace, std::ostream& stream);

/// Reads what write_pftrace wrote, events in the order of sort_events().
/// Throws std::runtime_error, one line that names the file and what is wrong with it.
Trace read_pftrace(const std::filesystem::path& path);

}  // namespace sm100::traces
