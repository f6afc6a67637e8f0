// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "traces/format/atomic_file.h"

namespace sm100::traces {

namespace {

/// Quoted where the text would not stand for itself.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string present(int64_t value) { return value == -1 ? "" : std::to_string(value); }
std::string flow(uint64_t id) { return id == 0 ? "" : std::to_string(id); }

}  // namespace

void write_csv(const Trace& trace, const std::filesystem::path& path) {
  std::vector<size_t> order(trace.spans.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    const Span &a = trace.spans[i], &b = trace.spans[j];
    return std::tie(a.begin, a.track, a.sequence) < std::tie(b.begin, b.track, b.sequence);
  });
  AtomicFile file(path);
  file.stream()
      << "sm,cta,warp,track,track_kind,span,begin,end,duration,sequence,pipeline,stage,phase,tile_m,tile_n,tile_k,"
         "k,bytes,column,columns,flow_in,flow_out\r\n";
  for (const size_t i : order) {
    const Span& span = trace.spans[i];
    const SpanArgs& a = span.args;
    const Track& track = trace.tracks[span.track];
    file.stream() << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
                                 present(track.sm), present(track.cta), present(track.warp), field(track.name),
                                 name(track.kind), name(span.kind), span.begin, span.end, span.end - span.begin,
                                 span.sequence, a.pipeline == kNoName ? "" : field(trace.names[size_t(a.pipeline)]),
                                 present(a.stage), present(a.phase), present(a.tile_m), present(a.tile_n),
                                 present(a.tile_k), present(a.k), present(a.bytes), present(a.column),
                                 present(a.columns), flow(span.flow_in), flow(span.flow_out));
  }
  file.commit();
}

}  // namespace sm100::traces
