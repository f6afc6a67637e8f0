// SPDX-License-Identifier: Apache-2.0
/// sm100sim stats TRACE: what a recorded trace says in numbers.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/host/scenario.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/json_output.h"
#include "sim/cli/read_trace.h"
#include "traces/analysis/critical_path.h"
#include "traces/analysis/statistics.h"
#include "traces/analysis/text_timeline.h"
#include "traces/format/compressed_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct StatsOptions {
  std::string trace, json;
  bool critical_path = false, timeline = false;
  std::optional<int> cta;
  size_t steps = 0;
};

traces::CriticalPath critical_path_of(const std::string& path, const traces::Trace& trace) {
  try {
    return traces::critical_path(trace);
  } catch (const std::runtime_error& error) {
    throw InputError(fmt::format("{}: {}", traces::input_name(path), error.what()));
  }
}

Json roles_json(const traces::Trace& trace) {
  Json roles = Json::array();
  for (const traces::RoleStatistics& role : traces::role_statistics(trace)) {
    Json waiting = Json::object();
    for (const auto& [what, ticks] : role.waiting) waiting[what] = ticks;
    roles.push_back({{"role", role.role},
                     {"tracks", role.tracks},
                     {"total_ticks", role.total},
                     {"working_ticks", role.working},
                     {"waiting_ticks", waiting}});
  }
  return roles;
}

Json spans_json(const traces::Trace& trace) {
  Json spans = Json::array();
  for (const traces::SpanStatistics& kind : traces::span_statistics(trace))
    spans.push_back({{"kind", name(kind.kind)},
                     {"pipeline", text_or_null(kind.pipeline)},
                     {"count", kind.count},
                     {"p10_ticks", kind.p10},
                     {"median_ticks", kind.median},
                     {"p90_ticks", kind.p90},
                     {"max_ticks", kind.max},
                     {"total_ticks", kind.total}});
  return spans;
}

Json tensor_core_json(const traces::Trace& trace) {
  const auto tensor = traces::tensor_core_statistics(trace);
  if (!tensor) return Json();
  return {{"busy_ticks", tensor->busy}, {"sms", tensor->sms}, {"share", tensor->share()}};
}

Json findings_json(const traces::Trace& trace) {
  Json findings = Json::array();
  for (const traces::Finding& finding : trace.findings)
    findings.push_back({{"id", finding.id},
                        {"warning", finding.warning},
                        {"time_ticks", finding.time},
                        {"message", finding.message}});
  return findings;
}

Json critical_path_json(const traces::CriticalPath& path) {
  Json dependencies = Json::array(), shares = Json::array();
  for (int i = 0; i < traces::kDependencies; ++i)
    if (const auto kind = static_cast<traces::Dependency>(i); path.ticks(kind) > 0)
      dependencies.push_back({{"dependency", traces::name(kind)}, {"ticks", path.ticks(kind)}});
  for (const traces::PathShare& share : path.shares)
    shares.push_back({{"dependency", traces::name(share.kind)},
                      {"by", share.track},
                      {"pipeline", text_or_null(share.pipeline)},
                      {"ticks", share.ticks},
                      {"segments", share.segments}});
  return {{"verdict", path.verdict},
          {"ticks", path.ticks()},
          {"segments", path.segments.size()},
          {"dependencies", dependencies},
          {"shares", shares}};
}

Json stats_json(const StatsOptions& options, const traces::Trace& trace, const traces::CriticalPath* path) {
  const traces::Metadata& m = trace.metadata;
  Json json = json_document("stats");
  json.update(Json{
      {"trace", options.trace},
      {"recorded_by", text_or_null(m.tool_version)},
      {"source", m.source},
      {"device", text_or_null(m.device)},
      {"scenario", text_or_null(m.scenario)},
      {"part", text_or_null(m.part)},
      {"ticks_per_second", m.ticks_per_second > 0 ? Json(m.ticks_per_second) : Json()},
      {"run_ticks", traces::run_length(trace)},
      {"dropped_events", m.dropped_events},
      {"tensor_core", tensor_core_json(trace)},
      {"roles", roles_json(trace)},
      {"spans", spans_json(trace)},
      {"findings", findings_json(trace)},
      {"critical_path", path ? critical_path_json(*path) : Json()},
  });
  return json;
}

/// The life of one CTA; the first that ran.
std::string timeline_of(const StatsOptions& options, const traces::Trace& trace) {
  constexpr int kColumns = 100;
  const std::vector<int> ctas = traces::ctas_with_spans(trace);
  if (ctas.empty()) throw InputError(fmt::format("{}: --timeline: no CTA ran in it", options.trace));
  if (options.cta && std::find(ctas.begin(), ctas.end(), *options.cta) == ctas.end())
    throw InputError(fmt::format("--cta {}: not in {}; it has CTAs {} to {}", *options.cta, options.trace,
                                 ctas.front(), ctas.back()));
  return traces::format_timeline(trace, options.cta.value_or(ctas.front()), kColumns);
}

void stats(const StatsOptions& options) {
  const traces::Trace trace = read_trace(options.trace);
  std::optional<traces::CriticalPath> path;
  if (options.critical_path) path = critical_path_of(options.trace, trace);
  check_json_path(options.json, options.trace);
  if (!options.json.empty()) write_json(options.json, stats_json(options, trace, path ? &*path : nullptr));
  if (traces::is_standard_stream(options.json)) return;
  if (options.timeline) return fmt::print("{}", timeline_of(options, trace));
  fmt::print("{}",
             path ? traces::format_critical_path(trace, *path, options.steps) : traces::format_statistics(trace));
}

}  // namespace

void add_stats_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<StatsOptions>();
  CLI::App* command = app.add_subcommand("stats", "Who worked, who waited and for what, in a recorded trace");
  command->add_option("TRACE", options->trace, "Trace file (.pftrace, also compressed); - is standard input")
      ->required();
  CLI::Option* critical_path = command->add_flag("--critical-path", options->critical_path,
                                                 "What the run's end depends on, and what limits the run");
  command->add_option("--steps", options->steps, "With --critical-path: the last N segments of the path too")
      ->check(integers(0, 1'000'000'000))
      ->type_name("N")
      ->needs(critical_path);
  CLI::Option* timeline = command->add_flag("--timeline", options->timeline,
                                            "The life of one CTA as text: roles, stages, accumulators");
  timeline->excludes(critical_path);
  command->add_option("--cta", options->cta, "With --timeline: which CTA (the first that ran)")
      ->check(integers(0, INT32_MAX))
      ->type_name("N")
      ->needs(timeline);
  command->add_option("--json", options->json, "Write the numbers as JSON; - prints them instead of the text")
      ->type_name("FILE")
      ->check(file_name());
  command->callback([options, &exit_code] {
    stats(*options);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
