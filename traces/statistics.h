/// What a trace says in numbers: who works, who waits, and for what.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "traces/schema.h"

namespace sm100::traces {

/// All tracks of kind role that have one name ("mma" of every CTA) together.  In ticks.
struct RoleStatistics {
  std::string role;
  uint64_t total = 0;    ///< sum over the tracks of last end - first begin
  uint64_t working = 0;  ///< total less the waits
  /// By pipeline ("input_full"), the longest first.  Waits on nothing named are under "(unnamed)".
  std::vector<std::pair<std::string, uint64_t>> waiting;
  int tracks = 0;
};

/// In order of first appearance among the tracks; roles without spans have total 0.
std::vector<RoleStatistics> role_statistics(const Trace& trace);

/// Durations of all spans of one kind, waits by pipeline, in ticks.  Percentiles are by nearest rank.
struct SpanStatistics {
  SpanKind kind = SpanKind::wait;
  std::string pipeline;  ///< of a wait: "input_full"; empty where it names none, and for other kinds
  uint64_t count = 0;
  uint64_t p10 = 0, median = 0, p90 = 0, max = 0;
  uint64_t total = 0;
};

/// The kinds and pipelines that occur, the largest total first.
std::vector<SpanStatistics> span_statistics(const Trace& trace);

/// Both for people: the busiest role and what it waits for first, then tables.
std::string format_statistics(const Trace& trace);

}  // namespace sm100::traces
