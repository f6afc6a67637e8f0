// SPDX-License-Identifier: Apache-2.0
#include "traces/diff/derived_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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

/// "mbarrier 0x400", stage 3: "mbarrier 0x418".  Rows of barriers are learned by a simulation, not by a GPU.
void name_by_offset(EventMeaning& m) {
  constexpr std::string_view kUnnamed = "mbarrier 0x";
  if (!m.pipeline.starts_with(kUnnamed) || m.stage < 0) return;
  uint32_t offset = 0;
  const char* const end = m.pipeline.data() + m.pipeline.size();
  if (std::from_chars(m.pipeline.data() + kUnnamed.size(), end, offset, 16).ptr != end) return;
  m.pipeline = fmt::format("mbarrier {:#x}", offset + 8 * uint32_t(m.stage));
  m.stage = 0;
}

}  // namespace

void name_as_records_do(const Trace& a, const Trace& b, RoleTracks& tracks_a, RoleTracks& tracks_b) {
  const auto records = [](const Trace& t) { return t.metadata.source == "hardware" && spans_are_derived(t); };
  if (!records(a) && !records(b)) return;
  for (RoleTracks* tracks : {&tracks_a, &tracks_b})
    for (auto& [key, track] : *tracks)
      for (RoleEvent& e : track.events) {
        if (e.meaning.kind != SpanKind::wait || e.meaning.pipeline.empty()) continue;
        e.meaning.phase &= 1;  // -1, which a barrier starts with, has the parity 1
        name_by_offset(e.meaning);
      }
}

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
