// SPDX-License-Identifier: Apache-2.0
/// Other people's timelines in our schema: Chrome trace-event JSON and a map that says what its events mean.
/// docs/compare.md ("Import a measured timeline") has the map's TOML form; maps stand in traces/maps/.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/exchange/expression.h"
#include "traces/exchange/other_recorders.h"
#include "traces/format/schema.h"

namespace sm100::traces {

/// Variables of the expressions below.  `thread` is the rank of the tid among those of its pid; `i` counts the
/// events of one name on one (pid, tid), from 0, in order of time; args.NAME is an integer argument of the event.
inline const std::vector<std::string_view> kThreadVariables = {"pid", "tid", "thread"};
inline const std::vector<std::string_view> kRoleVariables = {"pid", "tid", "thread", "cta", "sm", "warp"};
inline const std::vector<std::string_view> kEventVariables = {"pid", "tid",  "thread", "cta",
                                                              "sm",  "warp", "i",      "args."};

/// What a span is about, by the names of SpanArgs.  `sequence` orders the spans of a track; without it they are in
/// the order in which they end.
inline constexpr std::array<std::string_view, 8> kImportedArgs = {"stage",  "phase", "tile_m", "tile_n",
                                                                  "tile_k", "k",     "bytes",  "sequence"};

struct ChromeImportMap {
  enum class Format { chrome, synclog, iket };
  Format format = Format::chrome;
  std::vector<LoggedBarrier> barriers;  ///< of a synclog
  std::optional<int64_t> launch;        ///< of an IKET file with several

  // What a file of ours says in its otherData, and others do not: absent here = taken from there.
  std::optional<std::string> source, device, scenario, configuration;  ///< source and ticks are needed from one
  std::optional<double> ticks_per_second;

  double units_per_second = 1e6;  ///< of ts and dur; Chrome's format says microseconds

  // Where a thread lies.  A pattern is text with {cta}, {sm}, {warp} (digits), {role} and {} (anything): "CTA {cta}
  // on SM {sm}".  A pid or tid that is a string is the name.
  std::string process_name, thread_name;    ///< patterns; empty: the name is not looked at
  std::optional<Expression> cta, sm, warp;  ///< over kThreadVariables; instead of the pattern's

  /// The first that fits an event names its role; needed where the pattern has no {role}.
  struct Role {
    std::string name;
    std::optional<Expression> when;   ///< over kRoleVariables; fits if not 0
    std::vector<std::string> events;  ///< empty: any
  };
  std::vector<Role> roles;

  using Args = std::array<std::optional<Expression>, kImportedArgs.size()>;  ///< over kEventVariables

  struct Event {
    std::string name;
    SpanKind kind = SpanKind::wait;
    std::string pipeline;      ///< "input_full"
    std::string pipeline_arg;  ///< or the name of the argument that says it
    Args args;                 ///< absent: ChromeImportMap::args
  };
  std::vector<Event> events;
  Args args;

  std::vector<std::string> ignore;  ///< names of events to leave out
};

/// Throws std::runtime_error, one line, unless all braces of a pattern are {cta}, {sm}, {warp}, {role} or {}.
void check_pattern(std::string_view pattern);

/// Only role tracks and their spans come in: no units, barriers and flows.  One track per (pid, tid) and role.
/// Throws std::runtime_error, one line with file, event and what is allowed, when file and map do not fit.
Trace import_chrome_json(const std::filesystem::path& path, const ChromeImportMap& map);

}  // namespace sm100::traces
