// SPDX-License-Identifier: Apache-2.0
#include "exec/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/verdict.h"

namespace sm100::exec {
namespace {

using traces::kNoName;
using traces::kNoTrack;
using traces::TrackId;

constexpr TrackId kGpu = 0, kHost = 1;

/// "CTA 3 on SM 1" as CTA 19 of the program, in its launch 2: "CTA 19 (launch 2) on SM 1".
std::string cta_name(const std::string& name, int cta, int launch) {
  const size_t on = name.find(" on ");
  return fmt::format("CTA {} (launch {}){}", cta, launch, on == std::string::npos ? "" : name.substr(on));
}

}  // namespace

int16_t Timeline::intern(std::string_view name) {
  const auto [known, added] = names_.try_emplace(std::string(name), int16_t(trace_.names.size()));
  if (added) trace_.names.emplace_back(name);
  return known->second;
}

size_t Timeline::events() const {
  return trace_.spans.size() + trace_.barrier_events.size() + trace_.wakeups.size();
}

void Timeline::begin(const traces::Metadata& metadata) {
  if (!trace_.tracks.empty()) return;
  trace_.metadata = metadata;
  trace_.tracks.push_back({kGpu, traces::TrackKind::gpu, metadata.device.empty() ? "device" : metadata.device});
  trace_.tracks.push_back({kHost, traces::TrackKind::role, "host", kGpu});
}

void Timeline::host_span(uint64_t ticks, std::string_view name) {
  constexpr size_t kMostNames = 30'000;  // of the format, less what the launches need
  if (events() >= most_events_ || trace_.names.size() >= kMostNames) {
    ++trace_.metadata.dropped_events;
    return;
  }
  traces::Span span{.begin = now_, .end = now_ + ticks, .track = kHost, .sequence = host_spans_++};
  span.args.pipeline = intern(name);
  trace_.spans.push_back(span);
}

void Timeline::call(std::string_view name) {
  begin({});
  host_span(0, name);
}

void Timeline::launch(const Launch& launch, const LaunchOutcome& outcome) {
  begin({});
  const uint64_t ticks = outcome.result.cycles;
  traces::Metadata& metadata = trace_.metadata;
  metadata.ticks_per_second =
      outcome.result.sm_clock_ghz > 0 ? outcome.result.sm_clock_ghz * 1e9 : metadata.ticks_per_second;
  if (outcome.trace) append(*outcome.trace, launch.number);
  host_span(ticks, fmt::format("{}: {}", launch.name(), launch.title()));
  if (metadata.outcome.empty() || metadata.outcome == "pass") {  // the first that is not, stands for the program
    metadata.outcome = sim::name(outcome.result.outcome);
    metadata.verdict = sim::name(sim::verdict_of(outcome.result));
  }
  now_ += ticks;
}

void Timeline::append(const traces::Trace& launch, int number) {
  const size_t more = launch.spans.size() + launch.barrier_events.size() + launch.wakeups.size();
  if (events() + more > most_events_ ||
      trace_.names.size() + launch.names.size() > size_t(std::numeric_limits<int16_t>::max())) {
    trace_.metadata.dropped_events += more;
    return;
  }
  if (trace_.metadata.device.empty()) {
    trace_.metadata.device = launch.metadata.device, trace_.metadata.source = launch.metadata.source;
    trace_.metadata.seed = launch.metadata.seed, trace_.metadata.tool_version = launch.metadata.tool_version;
    trace_.tracks[kGpu].name = launch.tracks.empty() ? launch.metadata.device : launch.tracks.front().name;
  }
  trace_.metadata.dropped_events += launch.metadata.dropped_events;

  std::vector<int16_t> names;
  for (const std::string& name : launch.names) names.push_back(intern(name));
  const auto name = [&](int16_t index) { return index == kNoName ? kNoName : names[size_t(index)]; };

  const TrackId first = TrackId(trace_.tracks.size());
  const auto track = [&](TrackId id) { return id == kNoTrack ? kNoTrack : id == 0 ? kGpu : first + id - 1; };
  int most_cta = -1;
  for (const traces::Track& from : launch.tracks) {
    if (from.id == 0) continue;  // the device
    traces::Track to = from;
    to.id = track(from.id), to.parent = track(from.parent);
    most_cta = std::max(most_cta, from.cta);
    if (to.cta >= 0) to.cta += ctas_;
    if (to.cluster >= 0) to.cluster += ctas_;
    if (to.kind == traces::TrackKind::cta) to.name = cta_name(from.name, to.cta, number);
    trace_.tracks.push_back(std::move(to));
  }
  ctas_ += most_cta + 1;

  uint64_t last_flow = last_flow_;
  const auto flow = [&](uint64_t id) {
    if (id == 0) return id;
    last_flow = std::max(last_flow, last_flow_ + id);
    return last_flow_ + id;
  };
  for (traces::Span span : launch.spans) {
    span.begin += now_, span.end += now_, span.track = track(span.track);
    span.args.pipeline = name(span.args.pipeline), span.args.line = name(span.args.line);
    span.args.operand = name(span.args.operand);
    span.flow_in = flow(span.flow_in), span.flow_out = flow(span.flow_out);
    trace_.spans.push_back(span);
  }
  for (traces::BarrierEvent event : launch.barrier_events) {
    event.time += now_, event.track = track(event.track), event.by = track(event.by);
    event.actor = name(event.actor), event.flow = flow(event.flow);
    trace_.barrier_events.push_back(event);
  }
  for (traces::Wakeup wakeup : launch.wakeups) {
    wakeup.begin += now_, wakeup.end += now_, wakeup.caused += now_;
    wakeup.track = track(wakeup.track), wakeup.by = track(wakeup.by);
    wakeup.reason = name(wakeup.reason), wakeup.flow = flow(wakeup.flow);
    trace_.wakeups.push_back(wakeup);
  }
  for (traces::Finding finding : launch.findings) {
    finding.time += now_, finding.track = track(finding.track);
    for (traces::FindingMark& mark : finding.marks) {
      mark.time += now_, mark.track = track(mark.track), mark.barrier = track(mark.barrier);
    }
    trace_.findings.push_back(std::move(finding));
  }
  last_flow_ = last_flow;
}

traces::Trace& Timeline::finish() {
  begin({});
  trace_.metadata.run_ticks = now_;
  traces::sort_events(trace_);
  return trace_;
}

}  // namespace sm100::exec
