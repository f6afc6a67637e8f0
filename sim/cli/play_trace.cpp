// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play_trace.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <stdexcept>

#include "traces/diff/diff.h"
#include "traces/format/pftrace.h"
#include "traces/html/diff_data.h"
#include "traces/html/html_report.h"
#include "traces/html/trace_data.h"

namespace sm100::sim::cli {

std::string trace_bytes(const traces::Trace& trace) {
  std::ostringstream bytes;
  traces::write_pftrace(trace, bytes);
  return std::move(bytes).str();
}

/// Traces are read from files: the bytes lie in one without a name.
traces::Trace read_trace_bytes(const std::string& bytes) {
  struct File {
    int number = memfd_create("sm100sim trace", MFD_CLOEXEC);
    ~File() {
      if (number >= 0) close(number);
    }
  } file;
  for (size_t at = 0; file.number >= 0 && at < bytes.size();) {
    const ssize_t n = write(file.number, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw std::runtime_error("there is no memory left for a trace");
    at += size_t(n);
  }
  return traces::read_pftrace(fmt::format("/proc/self/fd/{}", file.number));
}

std::string page_data(const traces::Trace& trace, const std::string& name) {
  return traces::make_trace_data(trace, name).base64;
}

Json compared_pages(const PlayTrace& a, const PlayTrace& b) {
  traces::MatchedPairs matched;
  const traces::TraceDiff diff = traces::diff_traces(a.trace, b.trace, &matched);
  const traces::TraceData data_a = traces::make_trace_data(a.trace, a.name),
                          data_b = traces::make_trace_data(b.trace, b.name);
  return {{"a", data_a.base64},
          {"b", data_b.base64},
          {"diff", traces::make_diff_data(diff, matched, a.trace, data_a, b.trace, data_b)}};
}

std::string report_page(const PlayTrace& trace) { return traces::html_report({trace.trace, trace.name}); }

std::string report_page(const PlayTrace& a, const PlayTrace& b) {
  traces::MatchedPairs matched;
  const traces::TraceDiff diff = traces::diff_traces(a.trace, b.trace, &matched);
  return traces::html_report({a.trace, a.name}, {b.trace, b.name}, diff, matched);
}

}  // namespace sm100::sim::cli
