#include "traces/diff.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "traces/structure_diff.h"
#include "traces/timing_diff.h"

namespace sm100::traces {
namespace {

nlohmann::json configuration(const Trace& trace) {
  const auto json = nlohmann::json::parse(trace.metadata.configuration, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

std::vector<std::string> configuration_difference(const Trace& a, const Trace& b) {
  const nlohmann::json in_a = configuration(a), in_b = configuration(b);
  if (in_a.contains("kernel") && in_b.contains("kernel") && in_a["kernel"] != in_b["kernel"])
    throw std::runtime_error(fmt::format("the traces are of different kernels: {} and {}", in_a["kernel"].dump(),
                                         in_b["kernel"].dump()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : in_a.items())
    if (in_b.contains(key) && in_b[key] != value)
      keys.push_back(fmt::format("{}: {}, {}", key, value.dump(), in_b[key].dump()));
  return keys;
}

RoleTracks tracks_of(const Trace& trace, const char* which) {
  RoleTracks tracks = role_tracks(trace);
  bool events = false;
  for (const auto& [key, track] : tracks) events |= !track.events.empty();
  if (!events) throw std::runtime_error(fmt::format("trace {} holds no role spans", which));
  if (!(trace.metadata.ticks_per_second > 0))
    throw std::runtime_error(fmt::format("trace {} does not say how long a tick is", which));
  return tracks;
}

}  // namespace

TraceDiff diff_traces(const Trace& a, const Trace& b) {
  TraceDiff diff;
  diff.configuration = configuration_difference(a, b);
  const RoleTracks tracks_a = tracks_of(a, "A"), tracks_b = tracks_of(b, "B");
  MatchedSpans matched;
  diff.structure = compare_structure(a, b, tracks_a, tracks_b, matched);
  diff.timing = compare_timing(a, b, tracks_a, tracks_b, matched);
  return diff;
}

}  // namespace sm100::traces
