// SPDX-License-Identifier: Apache-2.0
/// A trace as the columns of an HTML report.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

/// Spans stand by track, then by begin, an outer span before the inner ones; barrier events and wake-ups by track,
/// then by time; the critical path's segments in order of time.  Times count from "origin", flows are numbered anew
/// from 1.  Tracks, names, findings and what the critical path amounts to are in the header.
struct TraceData {
  std::string base64;                      ///< the container (columns.h)
  std::vector<uint32_t> span_position;     ///< by index in Trace::spans: its row in the columns
  std::vector<uint32_t> barrier_position;  ///< the same of Trace::barrier_events
};

/// @param name  what the page calls the trace, its file's name
/// Throws std::runtime_error when the trace contradicts itself.
TraceData make_trace_data(const Trace& trace, const std::string& name);

}  // namespace sm100::traces
