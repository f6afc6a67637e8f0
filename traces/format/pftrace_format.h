// SPDX-License-Identifier: Apache-2.0
/// Words and numbers of the file format that writer and reader share (docs/trace-format.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "traces/format/schema.h"

namespace sm100::traces::format {

/// Debug annotations.  A file maps interning ids to these names; ours happen to be the position + 1.
// clang-format off
enum class Annotation : uint8_t {
  // spans
  sequence, pipeline, stage, tile_m, tile_n, tile_k, k, bytes, column, columns, line, operand, multicast,
  coord_0, coord_1, coord_2, coord_3, coord_4,
  flow_in,  ///< only for a flow that the file cannot draw, because nothing before it begins it
  // spans and barrier events
  phase,
  // barrier events
  actor, pending, tx, amount, delay,
  // barrier events and wake-ups
  by,
  // wake-ups
  reason, since, caused,
  // findings
  warning, message, report, mark,
  // metadata
  outcome, verdict,
  schema_version, source, device, scenario, configuration, tool_version, ticks_per_second, seed,
  dropped_events, run_ticks, part,
  spans, barrier_events, wakeups, findings,  ///< how many the file holds
};

inline constexpr std::array<std::string_view, 50> kAnnotationNames = {
    "sequence", "pipeline", "stage", "tile_m", "tile_n", "tile_k", "k", "bytes", "column", "columns",
    "line", "operand", "multicast", "coord_0", "coord_1", "coord_2", "coord_3", "coord_4",
    "flow_in",
    "phase",
    "actor", "pending", "tx", "amount", "delay",
    "by",
    "reason", "since", "caused",
    "warning", "message", "report", "mark",
    "outcome", "verdict",
    "schema_version", "source", "device", "scenario", "configuration", "tool_version", "ticks_per_second", "seed",
    "dropped_events", "run_ticks", "part", "spans", "barrier_events", "wakeups", "findings"};
// clang-format on
static_assert(kAnnotationNames.size() == static_cast<size_t>(Annotation::findings) + 1);

constexpr std::string_view name(Annotation annotation) { return kAnnotationNames[static_cast<size_t>(annotation)]; }

inline constexpr std::string_view kMetadataEvent = "sm100sim metadata";
inline constexpr std::string_view kMetadataCategory = "metadata";
inline constexpr std::string_view kWakeup = "wakeup";    ///< category and name of the event
inline constexpr std::string_view kFinding = "finding";  ///< category; the event's name is the finding's id
inline constexpr std::string_view kLane = "lane";        ///< first word of a lane's description
inline constexpr std::array<std::string_view, 3> kCounters = {"pending", "tx bytes", "phase"};
inline constexpr uint32_t kPacketSequence = 1;       ///< trusted_packet_sequence_id of all our packets
inline constexpr uint8_t kPacketTag = (1 << 3) | 2;  ///< Trace.packet, length-delimited

}  // namespace sm100::traces::format
