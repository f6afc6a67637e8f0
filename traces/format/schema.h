// SPDX-License-Identifier: Apache-2.0
/// What a trace holds, in memory.  One schema for both sources: the simulator and the hardware run of the
/// same roles. docs/trace-format.md says how it lies in a file.
///
/// A Trace is plain data: tracks (GPU > CTA > role, unit or barrier), spans on role and unit tracks, events
/// on barrier tracks, wake-ups from other waits, findings.  Strings live once in Trace::names and are meant by
/// index.  Times are ticks: SM cycles in the simulator, nanoseconds on hardware; Metadata::ticks_per_second tells
/// which.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::traces {

/// Raise it when a reader of the old version would misunderstand a new file, and say what changed in
/// docs/trace-format.md.
inline constexpr int kSchemaVersion = 3;

/// What a role or a unit was doing.  The names are part of the format.
enum class SpanKind : uint8_t {
  // role spans, recorded by the role code at the same places in both builds
  wait,         ///< blocked on a barrier (SpanArgs::pipeline says which)
  load_issue,   ///< issues the TMA copies of one stage
  mma_issue,    ///< issues the MMAs of one k group
  mma_commit,   ///< tcgen05.commit
  tmem_load,    ///< tcgen05.ld and its wait
  smem_read,    ///< shared memory to registers
  smem_write,   ///< registers to shared memory
  store_issue,  ///< issues a TMA store, or a warp's stores of its rows
  store_wait,   ///< cp.async.bulk.wait_group
  lock_wait,    ///< split-K: polls the lock of a tile until `k` k tiles have been added
  reduce,       ///< split-K: partial sums to, or from, the workspace
  clc_request,  ///< asks for the next cluster's work
  clc_fetch,    ///< reads the answer
  tile,         ///< one work tile, around the spans above
  setup,        ///< before the main loop: barrier init, TMEM allocation
  drain,        ///< after the main loop
  map_edit,     ///< edits, releases and acquires the tensor maps of a group
  // unit spans, simulation only
  tma_load,
  tma_store,
  umma,
  clc_cancel,
  tmem_alloc,  ///< columns from tcgen05.alloc to tcgen05.dealloc
  tmem_read,   ///< the transfer of a tcgen05.ld
  tmem_write,  ///< the transfer of a tcgen05.st
};
inline constexpr int kSpanKinds = static_cast<int>(SpanKind::tmem_write) + 1;

constexpr std::string_view name(SpanKind kind) {
  constexpr std::string_view kNames[kSpanKinds] = {
      "wait",       "load_issue",  "mma_issue",  "mma_commit", "tmem_load", "smem_read",
      "smem_write", "store_issue", "store_wait", "lock_wait",  "reduce",    "clc_request",
      "clc_fetch",  "tile",        "setup",      "drain",      "map_edit",  "tma_load",
      "tma_store",  "umma",        "clc_cancel", "tmem_alloc", "tmem_read", "tmem_write"};
  return kNames[static_cast<int>(kind)];
}

constexpr std::optional<SpanKind> span_kind(std::string_view text) {
  for (int i = 0; i < kSpanKinds; ++i) {
    if (name(static_cast<SpanKind>(i)) == text) return static_cast<SpanKind>(i);
  }
  return std::nullopt;
}

enum class BarrierEventKind : uint8_t {
  init,            ///< mbarrier.init: amount = expected arrivals
  arrive,          ///< amount = arrivals
  expect_tx,       ///< amount = bytes
  complete_tx,     ///< amount = bytes
  phase_complete,  ///< phase = the phase that completed; pending and tx are those of the next one
  wait_begin,      ///< phase = the phase waited for
  wait_end,
};
inline constexpr int kBarrierEventKinds = static_cast<int>(BarrierEventKind::wait_end) + 1;

constexpr std::string_view name(BarrierEventKind kind) {
  constexpr std::string_view kNames[kBarrierEventKinds] = {
      "init", "arrive", "expect_tx", "complete_tx", "phase_complete", "wait_begin", "wait_end"};
  return kNames[static_cast<int>(kind)];
}

constexpr std::optional<BarrierEventKind> barrier_event_kind(std::string_view text) {
  for (int i = 0; i < kBarrierEventKinds; ++i) {
    if (name(static_cast<BarrierEventKind>(i)) == text) return static_cast<BarrierEventKind>(i);
  }
  return std::nullopt;
}

enum class TrackKind : uint8_t { gpu, cta, role, unit, barrier };
inline constexpr int kTrackKinds = static_cast<int>(TrackKind::barrier) + 1;

constexpr std::string_view name(TrackKind kind) {
  constexpr std::string_view kNames[kTrackKinds] = {"gpu", "cta", "role", "unit", "barrier"};
  return kNames[static_cast<int>(kind)];
}

constexpr std::optional<TrackKind> track_kind(std::string_view text) {
  for (int i = 0; i < kTrackKinds; ++i) {
    if (name(static_cast<TrackKind>(i)) == text) return static_cast<TrackKind>(i);
  }
  return std::nullopt;
}

using TrackId = uint32_t;  ///< index into Trace::tracks
inline constexpr TrackId kNoTrack = UINT32_MAX;
inline constexpr int16_t kNoName = -1;

struct Track {
  TrackId id = kNoTrack;
  TrackKind kind = TrackKind::gpu;
  std::string name;           ///< "mma", "tma", "input_full[2]"
  TrackId parent = kNoTrack;  ///< an earlier track
  int sm = -1, cta = -1, warp = -1;
  int cluster = -1, rank = -1;  ///< of a cta track: which cluster of the run, and %cluster_ctarank in it
  bool operator==(const Track&) const = default;
};

/// What a span was about.  -1 = absent.
struct SpanArgs {
  int16_t pipeline = kNoName;  ///< index into Trace::names: "input_full"
  int16_t stage = -1;
  int32_t phase = -1;
  int32_t tile_m = -1, tile_n = -1;
  int32_t tile_k = -1;                ///< k split
  int32_t k = -1;                     ///< k iteration within the tile
  int16_t column = -1, columns = -1;  ///< of tensor memory: the first, and how many
  int16_t line = kNoName;             ///< index into Trace::names: "load_warp.h:36", where the instruction stands
  int16_t operand = kNoName;          ///< of a tensor copy: index into Trace::names, the tensor's name
  uint16_t multicast = 0;  ///< ranks of the cluster that a copy or a commit names, a bit each; 0 = its own CTA
  int8_t dimensions = 0;   ///< of a tensor copy: how many of the coordinates count
  std::array<int32_t, 5> coordinates{};  ///< where its box begins, in elements, the fastest dimension first
  int64_t bytes = -1;
  bool operator==(const SpanArgs&) const = default;
};

struct Span {
  uint64_t begin = 0, end = 0;  ///< ticks
  TrackId track = kNoTrack;
  SpanKind kind = SpanKind::wait;
  uint32_t sequence = 0;  ///< 0, 1, 2 ... on its track, in recording order
  SpanArgs args;
  uint64_t flow_in = 0;   ///< the flow that ends in this span, 0 = none
  uint64_t flow_out = 0;  ///< the flow that begins in this span, 0 = none
  bool operator==(const Span&) const = default;
};

struct BarrierEvent {
  uint64_t time = 0;         ///< ticks
  TrackId track = kNoTrack;  ///< a barrier track
  BarrierEventKind kind = BarrierEventKind::init;
  int16_t actor = kNoName;  ///< index into Trace::names: who did it
  int32_t phase = 0;        ///< the phase that the event counts towards, completes or waits for, from 0
  int32_t pending = 0;      ///< arrivals that the barrier still misses, after the event
  int32_t tx = 0;           ///< bytes that the barrier still misses, after the event (may be negative)
  int32_t amount = 0;       ///< arrivals or bytes
  TrackId by = kNoTrack;    ///< the actor's track, also of another CTA; of phase_complete, who did the last of it
  uint32_t delay = 0;       ///< ticks since the actor issued it: the way to another CTA's barrier
  uint64_t flow = 0;        ///< a flow that passes through this event, 0 = none
  bool operator==(const BarrierEvent&) const = default;
};

/// A warp goes on after a wait that was not for an mbarrier: named barrier, cluster barrier, bulk groups, tensor
/// memory, a word in global memory, griddepcontrol.wait.  (Waits for mbarriers are barrier events.)
struct Wakeup {
  uint64_t begin = 0, end = 0;  ///< ticks: the wait
  TrackId track = kNoTrack;     ///< role track of the warp
  int16_t reason = kNoName;     ///< index into Trace::names: what it waited for, "named barrier 0"
  TrackId by = kNoTrack;  ///< role or unit that ended the wait, as the last of those that had to; kNoTrack: unknown
  uint64_t caused = 0;    ///< when that did its part
  uint64_t flow = 0;      ///< the flow of the span that ended the wait, 0 = none known
  bool operator==(const Wakeup&) const = default;
};

/// A place that has to do with a finding.
struct FindingMark {
  enum class What : uint8_t {
    first,   ///< of two accesses that nothing orders: the earlier
    second,  ///< and the later, which was found
    fault,   ///< of a hang: what was done wrong, or last done by who should have acted
    root,    ///< the wait that explains the others
    victim,  ///< any other wait that nobody can end
  };
  What what = What::fault;
  TrackId track = kNoTrack;    ///< of the role
  uint64_t time = 0;           ///< ticks; of a wait, since when
  TrackId barrier = kNoTrack;  ///< the barrier that it was for
  std::string line;            ///< "load_warp.h:36", empty: not known
  std::string text;            ///< what it was, in the report's words
  bool operator==(const FindingMark&) const = default;
};
inline constexpr int kFindingMarks = static_cast<int>(FindingMark::What::victim) + 1;

constexpr std::string_view name(FindingMark::What what) {
  constexpr std::string_view kNames[kFindingMarks] = {"first", "second", "fault", "root", "victim"};
  return kNames[static_cast<int>(what)];
}

constexpr std::optional<FindingMark::What> finding_mark(std::string_view text) {
  for (int i = 0; i < kFindingMarks; ++i) {
    if (name(static_cast<FindingMark::What>(i)) == text) return static_cast<FindingMark::What>(i);
  }
  return std::nullopt;
}

/// What a run found wrong: a violation, a warning, or the hang that ended it.
struct Finding {
  uint64_t time = 0;         ///< ticks
  TrackId track = kNoTrack;  ///< of the role or barrier that the message names, else of the CTA
  std::string id;            ///< "MB5" (sm100sim explain), "hang"
  bool warning = false;      ///< legal, but hardly meant
  std::string message;       ///< one line
  std::string report;        ///< the whole text that the run prints
  std::vector<FindingMark> marks{};
  bool operator==(const Finding&) const = default;
};

struct Metadata {
  int schema_version = kSchemaVersion;
  std::string source;  ///< "sim" or "hardware"
  std::string device, scenario;
  std::string configuration;  ///< JSON text
  std::string tool_version;
  std::string outcome,
      verdict;  ///< as `sm100sim run --json` has them: "pass", "clean"; empty: not a finished simulation
  double ticks_per_second = 0;
  uint64_t seed = 0;
  uint64_t dropped_events = 0;  ///< a ring that overflowed lost so many; 0 = the trace is complete
  /// Length of the run: from the launch, at tick 0, until all CTAs have exited and all they wrote is visible, or
  /// until the run broke off.  0 = not known (hardware, imported timelines): take run_length().
  uint64_t run_ticks = 0;
  std::string part;  ///< what of the run was recorded, "SMs 0-3, cycles 1,000 to 2,000"; empty: all
  bool operator==(const Metadata&) const = default;
};

struct Trace {
  Metadata metadata;
  std::vector<std::string> names;
  std::vector<Track> tracks;  ///< tracks[i].id == i, parents before children
  std::vector<Span> spans;
  std::vector<BarrierEvent> barrier_events;
  std::vector<Wakeup> wakeups;
  std::vector<Finding> findings;
  bool operator==(const Trace&) const = default;
};

/// The one length of a run, which summary, statistics, critical path and page show: Metadata::run_ticks, and where
/// that is not known the time from the first span's begin to the last span's end.
uint64_t run_length(const Trace& trace);

/// Brings spans into order of (begin, track, sequence) and the others, stably, into order of time.  Files
/// hold events in this order, so a recorded trace equals its file only after it.
void sort_events(Trace& trace);

}  // namespace sm100::traces
