// SPDX-License-Identifier: Apache-2.0
/// Traces between the processes of `sm100sim play`, and as what its page shows.
#pragma once

#include <string>

#include "sim/cli/json_output.h"
#include "traces/format/schema.h"

namespace sm100::sim::cli {

struct PlayTrace {
  traces::Trace trace;
  std::string name;
};

/// The bytes of the trace's file, and back.  Reading throws std::runtime_error.
std::string trace_bytes(const traces::Trace& trace);
traces::Trace read_trace_bytes(const std::string& bytes);

/// A trace as a block of the page (traces/html/trace_data.h).
std::string page_data(const traces::Trace& trace, const std::string& name);
/// Two of them, and what differs: {"a", "b", "diff"}.  Throws std::runtime_error where they cannot be compared.
Json compared_pages(const PlayTrace& a, const PlayTrace& b);

/// The page of `sm100sim export`.
std::string report_page(const PlayTrace& trace);
std::string report_page(const PlayTrace& a, const PlayTrace& b);

}  // namespace sm100::sim::cli
