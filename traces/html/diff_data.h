// SPDX-License-Identifier: Apache-2.0
/// What differs between two traces, as the columns of an HTML report.
#pragma once

#include <string>

#include "traces/diff/diff.h"
#include "traces/html/trace_data.h"

namespace sm100::traces {

/// The container (columns.h): the result of diff_traces(a, b, &matched) in the header, the spans that mean the same
/// as two columns.  Spans and barrier events are named by their rows in data_a and data_b, -1 for none.
std::string make_diff_data(const TraceDiff& diff, const MatchedPairs& matched, const Trace& a,
                           const TraceData& data_a, const Trace& b, const TraceData& data_b);

}  // namespace sm100::traces
