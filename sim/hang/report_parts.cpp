// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/report_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/time.h"
#include "sim/hang/names.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

using models::Mbarrier;
using models::MbarrierEvent;
using models::MbarrierEventKind;

constexpr size_t kMostGroups = 14, kMostEvents = 6;

/// Waits of several CTAs that read alike.
struct Group {
  const Wait* first;
  std::vector<int> ctas, warps;
  int distance;
};

/// The open phase has its arrivals, and bytes keep it open.
bool has_all_arrivals(const Wait& w) { return w.on_mbarrier() && decode_mbarrier(w.state->word).pending == 0; }

bool alike(const Wait& a, const Wait& b) {
  return a.role == b.role && a.warps == b.warps && a.blocked.on == b.blocked.on &&
         a.barrier.array == b.barrier.array && a.blocked.offset == b.blocked.offset &&
         a.blocked.parity == b.blocked.parity && a.blocked.loc.line() == b.blocked.loc.line() &&
         a.blocked.address == b.blocked.address &&
         (a.state ? a.state->phase : 0) == (b.state ? b.state->phase : 0) &&
         has_all_arrivals(a) == has_all_arrivals(b);
}

std::vector<Group> groups_of(const WaitGraph& graph, size_t root) {
  const std::vector<int> distances =
      root < graph.waits().size() ? graph.distances_from(root) : std::vector<int>(graph.waits().size(), -1);
  std::vector<Group> groups;
  for (size_t i = 0; i < graph.waits().size(); ++i) {
    if (i == root) continue;
    const Wait& w = graph.waits()[i];
    const int distance = distances[i] < 0 ? 1000 : distances[i];
    auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return alike(*g.first, w); });
    if (same == groups.end())
      same = groups.insert(same, {.first = &w, .ctas = {}, .warps = {}, .distance = distance});
    same->ctas.push_back(w.cta->linear_id());
    same->distance = std::min(same->distance, distance);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.distance < b.distance; });
  return groups;
}

/// Where the group's first warp is when nothing blocks it: what it polls, and its last waits.
std::string running_text(const Wait& w) {
  const Warp& warp = w.warp();
  std::string text = "runs";
  if (warp.polls.address.value != 0)
    text += fmt::format("; polls {} since cycle {}, {} changes seen, now {}  {}",
                        w.cta->describe({.on = Blocked::On::global_word, .address = warp.polls.address}, true),
                        grouped(int64_t(warp.polls.since)), grouped(int64_t(warp.polls.changes)), warp.polls.value,
                        line_of(warp.polls.loc));
  const Warp::Use* last = nullptr;
  size_t array = 0;
  for (size_t i = 0; i < warp.use.size(); ++i)
    if (warp.use[i].waits > 0 && (!last || warp.use[i].waited_at > last->waited_at)) last = &warp.use[i], array = i;
  if (last)
    text += fmt::format("; its last wait ended at cycle {}: wait {} on {}", grouped(int64_t(last->waited_at)),
                        grouped(last->waits), w.cta->kernel().barriers[array].name);
  return text;
}

std::string event_text(const Wait& w, const MbarrierEvent& e) {
  const Cta& cta = *w.cta;
  const auto who = [&] {
    std::string warp = fmt::format("{} (warp {})", cta.kernel().role(e.source.warp), e.source.warp);
    if (e.source.cta != cta.linear_id()) warp += fmt::format(" of CTA {}", e.source.cta);
    if (e.source.kind == models::ActorKind::warp) return "by " + warp;
    const char* unit = e.source.kind == models::ActorKind::tma    ? "TMA"
                       : e.source.kind == models::ActorKind::umma ? "the tensor core"
                                                                  : "CLC";
    return fmt::format("by {} for {}", unit, warp);
  };
  const std::string at = line_of(e.source.loc).empty() ? "" : "  " + line_of(e.source.loc);
  const std::string cycle = grouped(int64_t(e.time));
  switch (e.kind) {
    case MbarrierEventKind::expect_tx:
      return fmt::format("armed at cycle {} {} with expect_tx {}{}", cycle, who(), grouped(e.amount), at);
    case MbarrierEventKind::complete_tx:
      return fmt::format("{} bytes delivered at cycle {} {}{}", grouped(e.amount), cycle, who(), at);
    case MbarrierEventKind::arrive:
      return fmt::format("{} arrival{} at cycle {} {}{}", e.amount, e.amount == 1 ? "" : "s", cycle, who(), at);
    case MbarrierEventKind::phase_complete: return fmt::format("completed at cycle {}", cycle);
    default: return fmt::format("initialised at cycle {} with count {}", cycle, e.amount);
  }
}

}  // namespace

namespace {

/// Of the barriers of several CTAs: each misses its own.
std::string missing_of_each(const Wait& w) {
  if (has_all_arrivals(w)) return fmt::format("phase {} misses bytes; all arrivals are in", w.state->phase);
  if (std::string_view(w.barrier.array->arrives).empty())
    return fmt::format("phase {} misses all arrivals: nobody has come in this run", w.state->phase);
  return fmt::format("phase {} misses {} of {}", w.state->phase, w.barrier.array->arrives_with,
                     w.barrier.array->arrives);
}

}  // namespace

std::string waits_text(const WaitGraph& graph, size_t root) {
  std::string text;
  const std::vector<Group> groups = groups_of(graph, root);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i == kMostGroups && groups.size() > kMostGroups + 1) {
      text += fmt::format("    and {} more such lines\n", groups.size() - i);
      break;
    }
    const Group& g = groups[i];
    const Wait& w = *g.first;
    const std::string who = warps_text(w.role, w.warps) + " of " + ctas_text(g.ctas);
    if (w.blocked.on == Blocked::On::nothing) {
      text += fmt::format("    {:<30} {}\n", who, running_text(w));
      continue;
    }
    const std::string missing = g.ctas.size() > 1 && w.on_mbarrier() ? missing_of_each(w) : missing_text(w);
    text += fmt::format("    {:<30} waits for {:<26} {}\n        {}\n", who, waited_for(w), line_of(w.blocked.loc),
                        missing);
  }
  return text;
}

std::string events_text(const Wait& w) {
  if (!w.on_mbarrier()) return {};
  const uint64_t kept = std::min<uint64_t>(w.state->events, Mbarrier::State::kHistory);
  std::vector<const MbarrierEvent*> shown;
  for (uint64_t i = w.state->events - kept; i < w.state->events; ++i) {
    const MbarrierEvent& e = w.state->history[i % Mbarrier::State::kHistory];
    if (e.kind != MbarrierEventKind::init) shown.push_back(&e);
  }
  std::string text = fmt::format("  last events of {} of CTA {}:", text_of(w.barrier), w.cta->linear_id());
  if (shown.empty()) return text + " none, nothing has ever arrived on it\n";
  text += "\n";
  for (size_t i = shown.size() > kMostEvents ? shown.size() - kMostEvents : 0; i < shown.size(); ++i)
    text += fmt::format("    phase {}: {}\n", shown[i]->phase, event_text(w, *shown[i]));
  return text;
}

}  // namespace sm100::sim
