// SPDX-License-Identifier: Apache-2.0
#include "traces/html/html_report.h"

#include <stdexcept>
#include <string_view>

#include "traces/format/atomic_file.h"
#include "traces/html/diff_data.h"
#include "traces/html/page.h"
#include "traces/html/trace_data.h"

namespace sm100::traces {
namespace {

/// The page has a comment where the data belongs.
constexpr std::string_view kPlace = "<!--sm100sim data-->";

struct Block {
  std::string_view id;
  const std::string& base64;
};

void write_page(std::initializer_list<Block> blocks, const std::filesystem::path& path) {
  const std::string_view page = html_page();
  const size_t place = page.find(kPlace);
  if (place == std::string_view::npos) throw std::runtime_error("the embedded page has no place for the data");
  AtomicFile file(path);
  std::ostream& out = file.stream();
  out << page.substr(0, place);
  for (const Block& block : blocks)
    out << "<script type=\"text/plain\" id=\"" << block.id << "\">" << block.base64 << "</script>\n";
  out << page.substr(place + kPlace.size());
  file.commit();
}

}  // namespace

void write_html_report(const NamedTrace& trace, const std::filesystem::path& path) {
  const TraceData data = make_trace_data(trace.trace, trace.name);
  write_page({{"trace-a", data.base64}}, path);
}

void write_html_report(const NamedTrace& a, const NamedTrace& b, const TraceDiff& diff, const MatchedPairs& matched,
                       const std::filesystem::path& path) {
  const TraceData data_a = make_trace_data(a.trace, a.name), data_b = make_trace_data(b.trace, b.name);
  const std::string found = make_diff_data(diff, matched, a.trace, data_a, b.trace, data_b);
  write_page({{"trace-a", data_a.base64}, {"trace-b", data_b.base64}, {"diff", found}}, path);
}

}  // namespace sm100::traces
