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

std::string page_with(std::initializer_list<Block> blocks) {
  const std::string_view page = html_page();
  const size_t place = page.find(kPlace);
  if (place == std::string_view::npos) throw std::runtime_error("the embedded page has no place for the data");
  std::string text(page.substr(0, place));
  for (const Block& block : blocks)
    text.append("<script type=\"text/plain\" id=\"")
        .append(block.id)
        .append("\">")
        .append(block.base64)
        .append("</script>\n");
  return text.append(page.substr(place + kPlace.size()));
}

void write_text(const std::string& text, const std::filesystem::path& path) {
  AtomicFile file(path);
  file.stream() << text;
  file.commit();
}

}  // namespace

std::string html_report(const NamedTrace& trace) {
  const TraceData data = make_trace_data(trace.trace, trace.name);
  return page_with({{"trace-a", data.base64}});
}

std::string html_report(const NamedTrace& a, const NamedTrace& b, const TraceDiff& diff,
                        const MatchedPairs& matched) {
  const TraceData data_a = make_trace_data(a.trace, a.name), data_b = make_trace_data(b.trace, b.name);
  const std::string found = make_diff_data(diff, matched, a.trace, data_a, b.trace, data_b);
  return page_with({{"trace-a", data_a.base64}, {"trace-b", data_b.base64}, {"diff", found}});
}

void write_html_report(const NamedTrace& trace, const std::filesystem::path& path) {
  write_text(html_report(trace), path);
}

void write_html_report(const NamedTrace& a, const NamedTrace& b, const TraceDiff& diff, const MatchedPairs& matched,
                       const std::filesystem::path& path) {
  write_text(html_report(a, b, diff, matched), path);
}

}  // namespace sm100::traces
