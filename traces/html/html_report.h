// SPDX-License-Identifier: Apache-2.0
/// A trace, or two side by side, as one HTML file that needs nothing else: the page of report/ with the data in it.
#pragma once

#include <filesystem>
#include <string>

#include "traces/diff/diff.h"
#include "traces/format/schema.h"

namespace sm100::traces {

struct NamedTrace {
  const Trace& trace;
  std::string name;  ///< shown in the page, usually the file's name
};

/// The page.
std::string html_report(const NamedTrace& trace);
/// Both on one axis, with what diff_traces(a, b, &matched) found.
std::string html_report(const NamedTrace& a, const NamedTrace& b, const TraceDiff& diff,
                        const MatchedPairs& matched);

/// Same guarantees as write_pftrace: a whole file or none, std::runtime_error with one line otherwise.
void write_html_report(const NamedTrace& trace, const std::filesystem::path& path);

void write_html_report(const NamedTrace& a, const NamedTrace& b, const TraceDiff& diff, const MatchedPairs& matched,
                       const std::filesystem::path& path);

}  // namespace sm100::traces
