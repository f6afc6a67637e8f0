// SPDX-License-Identifier: Apache-2.0
#include "traces/diff/derived_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "traces/format/schema.h"

namespace sm100::traces {
namespace {

/// What a span is about, as far as both ways of making spans name it: its kind, and of a wait the barrier.
using Sort = std::pair<SpanKind, std::string>;
Sort sort_of(const RoleEvent& e) {
  return {e.meaning.kind, e.meaning.kind == SpanKind::wait ? e.meaning.pipeline : std::string()};
}

/// By role, over all its tracks.
std::map<std::string, std::set<Sort>> sorts_of(const RoleTracks& tracks) {
  std::map<std::string, std::set<Sort>> sorts;
  for (const auto& [key, track] : tracks)
    for (const RoleEvent& e : track.events) sorts[track.role].insert(sort_of(e));
  return sorts;
}

std::string text_of(const Sort& sort) {
  return sort.second.empty() ? std::string(name(sort.first)) : fmt::format("{} {}", name(sort.first), sort.second);
}

void keep(RoleTracks& tracks, const std::map<std::string, std::set<Sort>>& known, const char* which,
          const char* other, std::set<std::string>& left_out) {
  for (auto& [key, track] : tracks) {
    const auto role = known.find(track.role);
    std::vector<RoleEvent> kept;
    for (RoleEvent& e : track.events) {
      if (role == known.end() || !role->second.contains(sort_of(e))) {
        left_out.insert(fmt::format("{} of {} ({} has none)", text_of(sort_of(e)), which, other));
        continue;
      }
      e.tile = -1;
      e.meaning.tile_m = e.meaning.tile_n = e.meaning.tile_k = e.meaning.k = -1;
      const bool goes_on =
          !kept.empty() && e.meaning.kind != SpanKind::wait && kept.back().meaning.kind == e.meaning.kind;
      if (!goes_on) kept.push_back(e);
    }
    track.events = std::move(kept);
    track.tiles.clear(), track.containers.clear();
  }
}

}  // namespace

bool spans_are_derived(const Trace& trace) {
  const auto json = nlohmann::json::parse(trace.metadata.configuration, nullptr, false);
  return json.is_object() && json.value("spans", "") == "derived";
}

std::vector<std::string> keep_what_both_know(RoleTracks& a, RoleTracks& b, bool a_derived, bool b_derived) {
  if (a_derived == b_derived) return {};
  const auto in_a = sorts_of(a), in_b = sorts_of(b);
  std::set<std::string> left_out;
  keep(a, in_b, "A", "B", left_out), keep(b, in_a, "B", "A", left_out);
  std::vector<std::string> lines(left_out.begin(), left_out.end());
  lines.emplace_back("tiles, of which derived spans know nothing");
  return lines;
}

}  // namespace sm100::traces
