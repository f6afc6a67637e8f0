// SPDX-License-Identifier: Apache-2.0
/// What a critical path says, in words and in a table.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "traces/analysis/critical_path.h"
#include "traces/analysis/ring_depth.h"
#include "traces/format/numbers.h"

namespace sm100::traces {

namespace {

/// The path by what the sentence speaks of.
struct Summary {
  const Trace& trace;
  const CriticalPath& path;
  uint64_t total = path.ticks();

  uint64_t ticks(Dependency kind) const { return path.ticks(kind); }
  double share(uint64_t part) const { return percent(part, total); }
  double share(Dependency kind) const { return share(ticks(kind)); }

  uint64_t tma() const { return ticks(Dependency::tma_load) + ticks(Dependency::load_issue); }
  uint64_t tensor() const { return ticks(Dependency::umma) + ticks(Dependency::mma_issue); }
  uint64_t tiles() const { return ticks(Dependency::clc) + ticks(Dependency::scheduling); }
  /// What is done with results: the epilogue's work, or a consumer's, with what its functor computes between its
  /// spans.
  uint64_t output() const {
    uint64_t sum = ticks(Dependency::tmem_load) + ticks(Dependency::shared_memory) + ticks(Dependency::store) +
                   ticks(Dependency::tma_store) + ticks(Dependency::split_k);
    const std::string role = output_role();
    for (const PathShare& share : path.shares)
      if (share.kind == Dependency::code && share.track == role) sum += share.ticks;
    return sum;
  }

  /// Of the shares of a kind, the longest; nullptr: none.
  const PathShare* longest(Dependency kind) const {
    const auto found = std::find_if(path.shares.begin(), path.shares.end(),
                                    [&](const PathShare& share) { return share.kind == kind; });
    return found == path.shares.end() ? nullptr : &*found;
  }
  /// Of the hand-overs that `admits`, the one that is on the path most often; nullptr: none.
  template <class F>
  const PathShare* handover(F admits) const {
    const PathShare* most = nullptr;
    for (const PathShare& share : path.shares)
      if (share.kind == Dependency::handover && !share.pipeline.empty() && admits(share) &&
          (!most || share.segments > most->segments))
        most = &share;
    return most;
  }
  int stages(const std::string& array) const {
    std::set<std::string> found;
    for (const Track& track : trace.tracks)
      if (track.kind == TrackKind::barrier && track.name.rfind(array + "[", 0) == 0) found.insert(track.name);
    return static_cast<int>(found.size());
  }
  /// The barriers that TMA's loads signal, by the bytes that they bring; empty: there are no loads.
  std::string filled_by_tma() const {
    std::map<int16_t, int64_t> bytes;
    for (const Span& span : trace.spans)
      if (span.kind == SpanKind::tma_load && span.args.pipeline != kNoName)
        bytes[span.args.pipeline] += span.args.bytes;
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](auto& a, auto& b) { return a.second < b.second; });
    return most == bytes.end() ? "" : trace.names[size_t(most->first)];
  }
  /// Who does most of the output's work.
  std::string output_role() const {
    std::map<std::string, uint64_t> by;
    for (const PathShare& share : path.shares)
      if (share.kind == Dependency::tmem_load || share.kind == Dependency::shared_memory ||
          share.kind == Dependency::store || share.kind == Dependency::split_k)
        by[share.track] += share.ticks;
    const auto most = std::max_element(by.begin(), by.end(), [](auto& a, auto& b) { return a.second < b.second; });
    return most == by.end() ? "epilogue" : most->first;
  }
};

/// Durations of the copies on the path: the median, and the shortest copy of as many bytes anywhere in the trace.
struct Copies {
  uint64_t median = 0, fastest = 0;
};

Copies copies(const Trace& trace, const CriticalPath& path) {
  std::vector<uint64_t> durations;
  int64_t bytes = -1;
  for (const PathSegment& segment : path.segments) {
    if (segment.kind != Dependency::tma_load || segment.span == kNoSpan) continue;
    const Span& span = trace.spans[segment.span];
    durations.push_back(span.end - span.begin);
    bytes = span.args.bytes;
  }
  if (durations.empty()) return {};
  std::nth_element(durations.begin(), durations.begin() + durations.size() / 2, durations.end());
  Copies found{durations[durations.size() / 2], UINT64_MAX};
  for (const Span& span : trace.spans)
    if (span.kind == SpanKind::tma_load && span.args.bytes == bytes)
      found.fastest = std::min(found.fastest, span.end - span.begin);
  return found;
}

/// "2 stages of 32,768 bytes hold 65,536 bytes in flight"
std::string ring_text(const RingDepth& ring) {
  return fmt::format("{} stage{} of {} bytes hold{} {} bytes in flight", ring.stages, ring.stages == 1 ? "" : "s",
                     grouped(ring.bytes), ring.stages == 1 ? "s" : "", grouped(ring.in_flight()));
}

/// How deep the ring is, and how deep it would have to be: latency times the rate at which the tensor core reads.
std::string depth_text(const Summary& s, const RingDepth& ring) {
  const std::string_view ticks = tick_name(s.trace.metadata);
  const double rate = double(ring.bytes) / double(ring.use);
  if (ring.queues())
    return fmt::format(
        "{}; a fill takes {} {} (the fastest {}): copies wait for memory and for each other, which get {:.0f} "
        "bytes per "
        "{} where the tensor core could use {:.0f}; more stages do not help",
        ring_text(ring), grouped(ring.fill), ticks, grouped(ring.fastest_fill),
        double(ring.in_flight()) / double(ring.fill + ring.turnaround), ticks.substr(0, ticks.size() - 1), rate);
  const std::string need = fmt::format(
      "{} {} until a stage is filled and {} until it is free again, at {:.0f} bytes per {}",
      grouped(ring.fastest_fill), ticks, grouped(ring.turnaround), rate, ticks.substr(0, ticks.size() - 1));
  if (ring.stages < ring.enough())
    return fmt::format("the ring is too short: {}; {} stages would hide the fills ({})", ring_text(ring),
                       ring.enough(), need);
  return fmt::format("the ring is deep enough: {}; {} would do ({})", ring_text(ring), ring.enough(), need);
}

/// A single stage: whoever fills it and whoever reads it wait for each other, round by round.
std::string turns(const Summary& s) {
  const PathShare* copy = s.longest(Dependency::tma_load);
  const PathShare* issue = s.longest(Dependency::load_issue);
  if (!copy || !issue || copy->pipeline.empty() || s.stages(copy->pipeline) != 1) return {};
  const PathShare* full = s.handover([&](const PathShare& h) { return h.pipeline == copy->pipeline; });
  const PathShare* empty = s.handover([&](const PathShare& h) {
    return h.track == issue->track && h.pipeline != copy->pipeline && s.stages(h.pipeline) == 1;
  });
  // In every round but the first: not one stage that happens to be enough.
  if (!full || !empty || 2 * empty->segments < full->segments) return {};
  if (s.tma() + s.tensor() < s.output()) return {};
  const bool tensor_core = s.ticks(Dependency::umma) > 0;
  const auto ring = ring_depth(s.trace, copy->pipeline);
  return fmt::format(
      "one stage: TMA and {} take turns: {}[0] \u2194 {}[0]; {:.0f} % of the path are TMA transfers, {:.0f} % {}, "
      "and neither overlaps the other{}",
      tensor_core ? "MMA" : "the " + full->track + " role", empty->pipeline, full->pipeline,
      s.share(Dependency::tma_load), s.share(tensor_core ? s.ticks(Dependency::umma) : s.output()),
      tensor_core ? "UMMA execution" : "its work", ring ? "; " + depth_text(s, *ring) : std::string());
}

std::string bound_by_tma(const Summary& s) {
  const PathShare* copy = s.longest(Dependency::tma_load);
  const std::string filled = copy ? copy->pipeline : "";
  const PathShare* waiting = s.handover([&](const PathShare& h) { return h.pipeline == filled; });
  std::string text = "bound by TMA: ";
  if (waiting) text += fmt::format("the {} role waits for {}, ", waiting->track, filled);
  text += fmt::format("{:.0f} % of the path are TMA transfers", s.share(Dependency::tma_load));
  if (const auto ring = ring_depth(s.trace, filled)) return text + "; " + depth_text(s, *ring);
  const Copies c = copies(s.trace, s.path);
  if (c.median == 0) return text;
  text += fmt::format(" of {} {} each (median; the fastest copy takes {}", grouped(c.median),
                      tick_name(s.trace.metadata), grouped(c.fastest));
  return text + (2 * c.median > 3 * c.fastest ? ": copies wait for memory and for each other)"
                                              : ": more stages would overlap more of them)");
}

std::string bound_by_tensor_core(const Summary& s) {
  std::string text =
      fmt::format("bound by the tensor core: {:.0f} % of the path are UMMA execution, {:.0f} % TMA transfers",
                  s.share(Dependency::umma), s.share(Dependency::tma_load));
  const std::string filled = s.filled_by_tma();
  if (const auto ring = ring_depth(s.trace, filled)) text += "; " + depth_text(s, *ring);
  return text;
}

std::string bound_by_output(const Summary& s) {
  const std::string role = s.output_role();
  if (s.share(Dependency::tma_store) > 50)
    return fmt::format(
        "bound by TMA stores: {:.0f} % of the path are copies out of shared memory that the {} role waits "
        "for, {:.0f} % its own work",
        s.share(Dependency::tma_store), role, s.share(s.output() - s.ticks(Dependency::tma_store)));
  std::string text = fmt::format("bound by the {}: ", role);
  // Whoever else waits for it on the path, and whether it waits itself.
  std::map<std::string, std::pair<std::string, size_t>> ended;
  uint64_t waits = 0;
  for (size_t i = 1; i < s.path.segments.size(); ++i) {
    const PathSegment &before = s.path.segments[i - 1], &now = s.path.segments[i];
    if (now.kind != Dependency::handover || now.pipeline == kNoName || before.kind == Dependency::handover)
      continue;
    const std::string& barrier = s.trace.names[size_t(now.pipeline)];
    if (now.stage < 0) continue;  // no mbarrier
    const std::string& waiter = s.trace.tracks[now.track].name;
    const Track& actor = s.trace.tracks[before.track];
    if (waiter == role && actor.name != role) ++waits;
    if (waiter == role || actor.name != role || before.kind == Dependency::launch) continue;
    ended[barrier].first = waiter, ++ended[barrier].second;
  }
  const auto most = std::max_element(ended.begin(), ended.end(),
                                     [](auto& a, auto& b) { return a.second.second < b.second.second; });
  if (most != ended.end() && most->second.second > 1)
    text += fmt::format("the {} role waits for {}, ", most->second.first, most->first);
  else if (waits <= 1)
    text += "its own work follows on itself, ";
  const std::pair<Dependency, const char*> parts[] = {
      {Dependency::tmem_load, "TMEM loads"}, {Dependency::shared_memory, "shared memory"},
      {Dependency::store, "stores"},         {Dependency::tma_store, "TMA stores"},
      {Dependency::split_k, "split-K sums"}, {Dependency::code, "other code"}};
  text += fmt::format("{:.0f} % of the path are its work", s.share(s.output()));
  std::string separator = " (";
  for (const auto& [kind, what] : parts)
    if (s.share(kind) >= 1) text += fmt::format("{}{} {:.0f} %", separator, what, s.share(kind)), separator = ", ";
  return separator == ", " ? text + ")" : text;
}

std::string bound_by_the_rest(const Summary& s, Dependency kind) {
  switch (kind) {
    case Dependency::launch:
      return fmt::format("bound by launch and set-up: {:.0f} % of the path pass before the CTAs' work",
                         s.share(kind));
    case Dependency::handover: {
      const PathShare* most = s.longest(Dependency::handover);
      return fmt::format(
          "bound by hand-overs: {:.0f} % of the path pass between an arrival and the wake-up that it "
          "causes, most where the {} role waits for {}",
          s.share(kind), most->track, most->pipeline.empty() ? "others" : most->pipeline);
    }
    case Dependency::clc:
      return fmt::format("bound by the scheduler: {:.0f} % of the path are requests for tiles and their answers",
                         s.share(s.tiles()));
    case Dependency::open_wait:
      return fmt::format("{:.0f} % of the path are a wait that nobody had ended", s.share(kind));
    case Dependency::unknown:
      return fmt::format("{:.0f} % of the path are unknown: the trace does not say what came before",
                         s.share(kind));
    default: return fmt::format("{:.0f} % of the path are role code outside all spans", s.share(kind));
  }
}

/// A run that did not come to its end: the path leads to where it broke off.
std::string broken_off(const Trace& trace) {
  for (const Finding& finding : trace.findings)
    if (!finding.warning)
      return finding.id == "hang" ? "the run hangs: its end is a wait that nobody ends, and the finding says why"
                                  : fmt::format("the run broke off with {}; until there: ", finding.id);
  return {};
}

std::string what_of(const Trace& trace, const PathSegment& segment) {
  std::string text{name(segment.kind)};
  if (segment.span != kNoSpan) text += fmt::format(" ({})", name(trace.spans[segment.span].kind));
  if (segment.pipeline == kNoName) return text;
  text += fmt::format(", {}", trace.names[size_t(segment.pipeline)]);
  return segment.stage >= 0 ? text + fmt::format("[{}]", segment.stage) : text;
}

}  // namespace

namespace detail {

std::string path_verdict(const Trace& trace, const CriticalPath& path) {
  const Summary s{trace, path};
  const std::string broken = broken_off(trace);
  if (!broken.empty() && broken.back() != ' ') return broken;
  if (std::string text = turns(s); !text.empty()) return broken + text;
  std::pair<uint64_t, Dependency> rest{0, Dependency::code};
  for (const Dependency kind : {Dependency::handover, Dependency::code, Dependency::open_wait, Dependency::unknown})
    rest = std::max(rest, {s.ticks(kind), kind});
  rest = std::max(rest, {s.tiles(), Dependency::clc});
  rest = std::max(rest, {s.ticks(Dependency::launch), Dependency::launch});
  const uint64_t largest = std::max({s.tma(), s.tensor(), s.output(), rest.first});
  if (largest == rest.first) return broken + bound_by_the_rest(s, rest.second);
  if (largest == s.tma()) return broken + bound_by_tma(s);
  return broken + (largest == s.tensor() ? bound_by_tensor_core(s) : bound_by_output(s));
}

}  // namespace detail

std::string format_critical_path(const Trace& trace, const CriticalPath& path, size_t steps) {
  const std::string_view ticks = tick_name(trace.metadata);
  std::string text;
  auto out = std::back_inserter(text);

  std::vector<std::pair<uint64_t, Dependency>> kinds;
  for (int i = 0; i < kDependencies; ++i)
    if (const auto kind = static_cast<Dependency>(i); path.ticks(kind) > 0)
      kinds.push_back({path.ticks(kind), kind});
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  fmt::format_to(out, "critical path: {} {} in {} segments\n\n", grouped(path.ticks()), ticks,
                 grouped(path.segments.size()));
  fmt::format_to(out, "{:<29}  {:>10}  {:>6}  by\n", "dependency", ticks, "share");
  for (const auto& [sum, kind] : kinds) {
    fmt::format_to(out, "{:<29}  {:>10}  {:>5.1f}%", name(kind), grouped(sum), percent(sum, path.ticks()));
    std::string_view separator = "  ";
    size_t shown = 0;
    for (const PathShare& share : path.shares) {
      if (share.kind != kind || (shown > 0 && percent(share.ticks, path.ticks()) < 0.5)) continue;
      if (++shown > 4) break;
      fmt::format_to(out, "{}{}{}{} {:.1f}%", separator, share.track, share.pipeline.empty() ? "" : ": ",
                     share.pipeline, percent(share.ticks, path.ticks()));
      separator = ", ";
    }
    text += '\n';
  }
  fmt::format_to(out, "\n{}\n", path.verdict);

  if (steps == 0) return text;
  const size_t first = path.segments.size() - std::min(steps, path.segments.size());
  fmt::format_to(out, "\n{:>10}  {:>10}  {:>8}  {:<28}  {}\n", "from", "to", ticks, "on", "what");
  for (size_t i = first; i < path.segments.size(); ++i) {
    const PathSegment& segment = path.segments[i];
    const Track& track = trace.tracks[segment.track];
    fmt::format_to(out, "{:>10}  {:>10}  {:>8}  {:<28}  {}\n", grouped(segment.begin), grouped(segment.end),
                   grouped(segment.end - segment.begin),
                   fmt::format("CTA {} {}{}", track.cta, track.name,
                               track.warp < 0 ? "" : fmt::format(" (warp {})", track.warp)),
                   what_of(trace, segment));
  }
  return text;
}

}  // namespace sm100::traces
