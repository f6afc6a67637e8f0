// SPDX-License-Identifier: Apache-2.0
#include "traces/analysis/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "traces/format/numbers.h"

namespace sm100::traces {

namespace {

constexpr std::string_view kUnnamed = "(unnamed)";

void add(std::vector<std::pair<std::string, uint64_t>>& sums, std::string_view what, uint64_t ticks) {
  auto found = std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == what; });
  if (found == sums.end()) found = sums.insert(sums.end(), {std::string(what), 0});
  found->second += ticks;
}

uint64_t waited(const RoleStatistics& role) { return role.total - role.working; }

/// First begin and last end, empty when first > last.
struct Extent {
  uint64_t first = UINT64_MAX, last = 0;
  void add(const Span& span) {
    first = std::min(first, span.begin);
    last = std::max(last, span.end);
  }
  uint64_t ticks() const { return first > last ? 0 : last - first; }
};

/// Who is busiest.  A role that works little limits nothing, however much less the others do.
std::string busiest_text(const Trace& trace, const std::vector<RoleStatistics>& roles) {
  const auto busiest = std::max_element(roles.begin(), roles.end(), [](const auto& a, const auto& b) {
    return percent(a.working, a.total) < percent(b.working, b.total);
  });
  const double works = busiest == roles.end() ? 0 : percent(busiest->working, busiest->total);
  std::string role;
  if (busiest != roles.end())
    role = works >= 50 ? fmt::format("{} is the busiest role and works {:.1f}% of its time", busiest->role, works)
                       : fmt::format("no role works more than {:.1f}% of its time ({})", works, busiest->role);
  const std::optional<TensorCoreStatistics> tensor = tensor_core_statistics(trace);
  if (!tensor) return role.empty() ? "" : "; " + role;
  const std::string core = fmt::format("the tensor core has MMAs in flight {:.1f}% of {} {}", 100 * tensor->share(),
                                       tensor->sms, tensor->sms == 1 ? "SM's time" : "SMs' time");
  return works > 100 * tensor->share() && works >= 50 ? "; " + role + "; " + core : "; " + core + "; " + role;
}

/// The first finding that is no warning, and how many more there are; "" where nothing was found.
std::string finding_text(const Trace& trace) {
  const auto is_error = [](const Finding& f) { return !f.warning; };
  const auto first = std::find_if(trace.findings.begin(), trace.findings.end(), is_error);
  if (first == trace.findings.end()) return "";
  const auto more = std::count_if(first + 1, trace.findings.end(), is_error);
  return fmt::format("FINDING {} at {} {}{}: {}\n", first->id, grouped(first->time), tick_name(trace.metadata),
                     more == 0 ? "" : fmt::format(" and {} more", more), first->message);
}

std::string headline(const Trace& trace, const std::vector<RoleStatistics>& roles) {
  const Metadata& metadata = trace.metadata;
  const uint64_t length = run_length(trace);
  std::string text = fmt::format("{} {}", grouped(length), tick_name(metadata));
  if (metadata.ticks_per_second > 0)
    text += fmt::format(" ({:.2f} us)", static_cast<double>(length) * 1e6 / metadata.ticks_per_second);
  text += busiest_text(trace, roles);
  text += fmt::format("\n{}{}{}\n", metadata.source.empty() ? "unknown source" : metadata.source,
                      metadata.device.empty() ? "" : ", " + metadata.device,
                      metadata.scenario.empty() ? "" : ", " + metadata.scenario);
  text += finding_text(trace);
  if (!metadata.part.empty())
    text += fmt::format(
        "PART of the run: {}; lengths and shares below are of this part, the run's length above is not\n",
        metadata.part);
  if (metadata.dropped_events != 0) {
    text += fmt::format("INCOMPLETE: {} events were dropped while recording\n", grouped(metadata.dropped_events));
  }
  return text;
}

}  // namespace

std::vector<RoleStatistics> role_statistics(const Trace& trace) {
  std::vector<RoleStatistics> roles;
  std::unordered_map<std::string_view, size_t> role_by_name;
  std::vector<size_t> role_of_track(trace.tracks.size(), SIZE_MAX);
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::role) continue;
    const auto [entry, added] = role_by_name.try_emplace(track.name, roles.size());
    if (added) roles.push_back({.role = track.name});
    role_of_track[track.id] = entry->second;
    ++roles[entry->second].tracks;
  }

  std::vector<Extent> extents(trace.tracks.size());
  for (const Span& span : trace.spans) {
    if (role_of_track[span.track] == SIZE_MAX) continue;
    extents[span.track].add(span);
    if (span.kind != SpanKind::wait) continue;
    const int16_t pipeline = span.args.pipeline;
    add(roles[role_of_track[span.track]].waiting, pipeline == kNoName ? kUnnamed : trace.names[pipeline],
        span.end - span.begin);
  }
  for (const Track& track : trace.tracks) {
    if (track.kind == TrackKind::role) roles[role_of_track[track.id]].total += extents[track.id].ticks();
  }
  for (RoleStatistics& role : roles) {
    std::stable_sort(role.waiting.begin(), role.waiting.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    uint64_t waiting = 0;
    for (const auto& [what, ticks] : role.waiting) waiting += ticks;
    role.working = role.total - std::min(waiting, role.total);
  }
  return roles;
}

std::vector<SpanStatistics> span_statistics(const Trace& trace) {
  std::map<std::pair<SpanKind, int16_t>, std::vector<uint64_t>> durations;
  for (const Span& span : trace.spans) {
    const int16_t pipeline = span.kind == SpanKind::wait ? span.args.pipeline : kNoName;
    durations[{span.kind, pipeline}].push_back(span.end - span.begin);
  }

  std::vector<SpanStatistics> kinds;
  for (auto& [key, unsorted] : durations) {
    std::vector<uint64_t>& sorted = unsorted;  // clang before 16 captures no structured bindings
    std::sort(sorted.begin(), sorted.end());
    const auto rank = [&](size_t hundredths) { return sorted[(sorted.size() * hundredths + 99) / 100 - 1]; };
    SpanStatistics statistics{.kind = key.first,
                              .pipeline = key.second == kNoName ? "" : trace.names[key.second],
                              .count = sorted.size(),
                              .p10 = rank(10),
                              .median = rank(50),
                              .p90 = rank(90),
                              .max = sorted.back()};
    for (uint64_t duration : sorted) statistics.total += duration;
    kinds.push_back(std::move(statistics));
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
  return kinds;
}

namespace {

/// The CTA of the role works in pairs (cta_group 2).  A run of several kernels puts the launch's name before the
/// role's and before the key: "left.mma", "left.cta_group".
bool is_paired(const nlohmann::json& configuration, const Track& role) {
  const std::string launch = role.name.substr(0, role.name.find('.') + 1);
  if (!configuration.is_object()) return false;
  const auto group = configuration.find(launch + "cta_group");
  return group != configuration.end() && group->is_number_integer() && *group == 2;
}

/// By CTA track: the SM of the other CTA of the pair.
std::map<TrackId, int> pair_sms(const Trace& trace) {
  const nlohmann::json configuration =
      nlohmann::json::parse(trace.metadata.configuration, nullptr, /*allow_exceptions=*/false);
  std::map<std::pair<int, int>, int> sms;  // by cluster and rank
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::cta && track.cluster >= 0) sms[{track.cluster, track.rank}] = track.sm;
  std::map<TrackId, int> found;
  for (const Track& role : trace.tracks) {
    if (role.kind != TrackKind::role || role.parent == kNoTrack || !is_paired(configuration, role)) continue;
    const Track& cta = trace.tracks[role.parent];
    if (const auto other = sms.find({cta.cluster, cta.rank ^ 1}); other != sms.end()) found[cta.id] = other->second;
  }
  return found;
}

}  // namespace

std::optional<TensorCoreStatistics> tensor_core_statistics(const Trace& trace) {
  const std::map<TrackId, int> pairs = pair_sms(trace);
  // By SM, whose CTAs share a tensor core; of traces that name no SM by track.
  std::map<std::pair<int, TrackId>, std::vector<std::pair<uint64_t, uint64_t>>> spans;
  for (const Span& span : trace.spans) {
    if (span.kind != SpanKind::umma) continue;
    const Track& track = trace.tracks[span.track];
    spans[{track.sm, track.sm >= 0 ? TrackId{0} : span.track}].push_back({span.begin, span.end});
    // The CTA that issues a pair's MMAs records them; they run on both SMs.
    if (const auto other = pairs.find(track.parent); other != pairs.end())
      spans[{other->second, TrackId{0}}].push_back({span.begin, span.end});
  }
  if (spans.empty()) return std::nullopt;
  TensorCoreStatistics found{.ticks = run_length(trace)};
  for (auto& [core, of_core] : spans) {
    std::sort(of_core.begin(), of_core.end());
    uint64_t until = 0;
    for (const auto& [begin, end] : of_core) {
      if (end > until) found.busy += end - std::max(begin, until);
      until = std::max(until, end);
    }
  }
  std::set<int> sms;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::cta) sms.insert(track.sm);
  found.sms = static_cast<int>(sms.size());
  return found;
}

std::string format_statistics(const Trace& trace) {
  std::vector<RoleStatistics> roles = role_statistics(trace);
  std::erase_if(roles, [](const RoleStatistics& role) { return role.total == 0; });
  std::string text = headline(trace, roles);
  auto out = std::back_inserter(text);

  if (!roles.empty()) {
    size_t width = 4;
    for (const RoleStatistics& role : roles) width = std::max(width, role.role.size());
    fmt::format_to(out, "\n{:<{}}  {:>6}  {:>14}  {:>7}  {:>7}  waits for\n", "role", width, "tracks",
                   tick_name(trace.metadata), "works", "waits");
    for (const RoleStatistics& role : roles) {
      fmt::format_to(out, "{:<{}}  {:>6}  {:>14}  {:>6.1f}%  {:>6.1f}%", role.role, width, role.tracks,
                     grouped(role.total), percent(role.working, role.total), percent(waited(role), role.total));
      std::string_view separator = "  ";
      for (const auto& [what, ticks] : role.waiting) {
        fmt::format_to(out, "{}{} {:.1f}%", separator, what, percent(ticks, role.total));
        separator = ", ";
      }
      text += '\n';
    }
  }

  const std::vector<SpanStatistics> kinds = span_statistics(trace);
  if (!kinds.empty()) {
    const auto label = [](const SpanStatistics& kind) {
      return fmt::format("{}{}{}", name(kind.kind), kind.pipeline.empty() ? "" : " ", kind.pipeline);
    };
    const std::string title = fmt::format("span, {}", tick_name(trace.metadata));
    size_t width = title.size();
    for (const SpanStatistics& kind : kinds) width = std::max(width, label(kind).size());
    constexpr auto kRow = "{:<{}}  {:>10}  {:>8}  {:>8}  {:>8}  {:>10}  {:>14}\n";
    fmt::format_to(out, "\n");
    fmt::format_to(out, kRow, title, width, "count", "p10", "median", "p90", "max", "total");
    for (const SpanStatistics& kind : kinds)
      fmt::format_to(out, kRow, label(kind), width, grouped(kind.count), grouped(kind.p10), grouped(kind.median),
                     grouped(kind.p90), grouped(kind.max), grouped(kind.total));
  }
  return text;
}

}  // namespace sm100::traces
