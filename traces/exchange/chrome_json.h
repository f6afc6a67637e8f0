// SPDX-License-Identifier: Apache-2.0
/// Chrome trace-event JSON (chrome://tracing, Speedscope, and other people's scripts).  Times are
/// microseconds. For exact ticks and everything else a trace holds, use the .pftrace.
#pragma once

#include <filesystem>

#include "traces/format/schema.h"

namespace sm100::traces {

/// A process per CTA, a thread per role, unit and lane; barrier events as instants.  Same guarantees as
/// write_pftrace: a whole file or none, std::runtime_error with one line otherwise.
void write_chrome_json(const Trace& trace, const std::filesystem::path& path);

}  // namespace sm100::traces
