// SPDX-License-Identifier: Apache-2.0
#include "traces/diff/diff.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "traces/diff/derived_spans.h"
#include "traces/diff/structure_diff.h"
#include "traces/diff/timing_diff.h"

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
    if (key != "recorder" && in_b.contains(key) && in_b[key] != value)
      keys.push_back(fmt::format("{}: {}, {}", key, value.dump(), in_b[key].dump()));
  return keys;
}

/// Of these, the depths of rings: "stages: 2, 6".
std::string ring_difference(const std::vector<std::string>& configuration) {
  std::string text;
  for (const std::string& difference : configuration)
    for (const char* key : {"stages: ", "accum_stages: ", "clc_stages: "})
      if (difference.starts_with(key)) text += (text.empty() ? "" : "; ") + difference;
  return text;
}

/// Sentences about what the reader of the figures must know.
std::vector<std::string> comparison_notes(const Trace& a, const Trace& b) {
  std::vector<std::string> notes;
  const nlohmann::json in_a = configuration(a), in_b = configuration(b);
  std::vector<std::string> work;
  for (const char* key : {"m", "n", "k", "tile_m", "tile_n", "mma", "cta_group", "cluster", "multicast", "sms"})
    if (in_a.contains(key) && in_b.contains(key) && in_a[key] != in_b[key]) work.emplace_back(key);
  if (!work.empty())
    notes.push_back(
        fmt::format("{} {}: a CTA of A has other work than that of B, which is no divergence to look into",
                    fmt::join(work, ", "), work.size() == 1 ? "differs" : "differ"));
  const auto note_part = [&](const char* which, const Trace& trace) {
    if (!trace.metadata.part.empty())
      notes.push_back(fmt::format("{} holds a part of its run only ({})", which, trace.metadata.part));
  };
  note_part("A", a), note_part("B", b);
  if (spans_are_derived(a) != spans_are_derived(b))
    notes.push_back(fmt::format(
        "the spans of {} are derived from what warps wait for and issue (PTX has no trace points), those "
        "of {} were recorded: compared is what both can know",
        spans_are_derived(a) ? "A" : "B", spans_are_derived(a) ? "B" : "A"));
  else if (spans_are_derived(a))
    notes.emplace_back("the spans of both are derived from what warps wait for and issue: PTX has no trace points");
  // 1 GHz is a timer, not an SM clock.
  const double ghz_a = a.metadata.ticks_per_second * 1e-9, ghz_b = b.metadata.ticks_per_second * 1e-9;
  if (ghz_a != 1 && ghz_b != 1 && std::abs(ghz_a / ghz_b - 1) > 0.001)
    notes.push_back(
        fmt::format("the SM clocks differ: A {:.3f} GHz, B {:.3f} GHz (run.sm_clock_ghz sets that of a "
                    "simulation); the figures are nanoseconds",
                    ghz_a, ghz_b));
  const auto free_of_cost = [](const Trace& trace, const nlohmann::json& json) {
    return trace.metadata.source == "sim" && json.contains("recorder") && json["recorder"] == false;
  };
  const auto note_recorder = [&](const char* simulated, const char* recorded) {
    notes.push_back(fmt::format("{} does not charge what recording cost in {} (run.recorder = true does)",
                                simulated, recorded));
  };
  const auto charged = [&](const Trace& trace, const nlohmann::json& json) {
    return trace.metadata.source == "hardware" || (json.contains("recorder") && json["recorder"] == true);
  };
  if (free_of_cost(a, in_a) && charged(b, in_b)) note_recorder("A", "B");
  if (free_of_cost(b, in_b) && charged(a, in_a)) note_recorder("B", "A");
  return notes;
}

RoleTracks tracks_of(const Trace& trace, const char* which) {
  RoleTracks tracks = role_tracks(trace);
  bool events = false;
  for (const auto& [key, track] : tracks) events |= !track.events.empty() || !track.containers.empty();
  if (!events) throw std::runtime_error(fmt::format("trace {} holds no role spans", which));
  if (!(trace.metadata.ticks_per_second > 0))
    throw std::runtime_error(fmt::format("trace {} does not say how long a tick is", which));
  return tracks;
}

}  // namespace

TraceDiff diff_traces(const Trace& a, const Trace& b, MatchedPairs* pairs) {
  TraceDiff diff;
  diff.configuration = configuration_difference(a, b);
  diff.notes = comparison_notes(a, b);
  RoleTracks tracks_a = tracks_of(a, "A"), tracks_b = tracks_of(b, "B");
  name_as_records_do(a, b, tracks_a, tracks_b);
  const bool a_derived = spans_are_derived(a), b_derived = spans_are_derived(b);
  std::vector<std::string> unknown = keep_what_both_know(tracks_a, tracks_b, a_derived, b_derived);
  MatchedSpans matched;
  diff.structure = compare_structure(a, b, tracks_a, tracks_b, matched, ring_difference(diff.configuration));
  diff.structure.not_compared.insert(diff.structure.not_compared.end(), unknown.begin(), unknown.end());
  diff.timing = compare_timing(a, b, tracks_a, tracks_b, matched);
  diff.cta_intervals = compare_cta_intervals(a, b);
  if (pairs)
    for (const auto& [track, spans] : matched) pairs->push_back(spans);
  return diff;
}

}  // namespace sm100::traces
