// SPDX-License-Identifier: Apache-2.0
/// What a trace says in numbers: who works, who waits, and for what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traces/format/schema.h"

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

/// How much of the run MMAs were in flight.
struct TensorCoreStatistics {
  uint64_t busy = 0;   ///< ticks in which a `umma` span was open, summed over SMs; a pair's spans are both SMs'
  int sms = 0;         ///< that ran a CTA
  uint64_t ticks = 0;  ///< run_length() of each of them
  double share() const { return ticks == 0 || sms == 0 ? 0.0 : double(busy) / (double(ticks) * sms); }
};

/// Nothing where the trace has no `umma` span: hardware's timelines, kernels without a tensor core.
std::optional<TensorCoreStatistics> tensor_core_statistics(const Trace& trace);

/// Both for people: the run's length and who is busiest, the tensor core or a role, then tables.
std::string format_statistics(const Trace& trace);

}  // namespace sm100::traces
