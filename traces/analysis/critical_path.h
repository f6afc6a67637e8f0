// SPDX-License-Identifier: Apache-2.0
/// The critical path of a simulated run: the chain of work and waits that decides when it ends.
///
/// It is found backwards, from the role that finishes last and what it stored.  What a role did since its last wait
/// is on the path; that wait ended because of somebody's arrival or bytes, and so the path goes on with whoever
/// made them: a role, or a unit's span and, where that began, whoever issued it.  An UMMA that found the tensor
/// pipe busy comes after the UMMA before it.  So the path crosses warps and CTAs and has neither gaps nor overlaps:
/// a shorter segment would have ended the run earlier, as far as no other chain takes its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

/// What a piece of the path is made of.
enum class Dependency : uint8_t {
  launch,      ///< before a CTA's first instruction; setup; a launch ahead
  tma_load,    ///< a copy into shared memory, from issue to the last byte
  umma,        ///< MMAs, from the first one's start to the last one's end
  clc,         ///< a cluster launch control request
  tma_store,   ///< a copy out of shared memory, until what waits for it may go on; at the end, until it is visible
  load_issue,  ///< role code that issues copies
  mma_issue,   ///< role code that issues MMAs and commits
  tmem_load,   ///< tcgen05.ld and its wait
  shared_memory,  ///< registers to shared memory or back
  store,          ///< role code that stores; what the last role stored becomes visible
  split_k,        ///< partial sums and their locks
  scheduling,     ///< role code around CLC
  handover,       ///< from the last arrival or byte until the waiting warp goes on: commit, way, wake-up, the wait
                  ///< itself
  code,           ///< role code outside all spans but the tile's
  open_wait,      ///< a wait that nobody had ended when the run broke off
  unknown,        ///< the trace does not say what came before
};
inline constexpr int kDependencies = static_cast<int>(Dependency::unknown) + 1;

constexpr std::string_view name(Dependency dependency) {
  constexpr std::string_view kNames[kDependencies] = {"launch, setup",
                                                      "TMA transfer",
                                                      "UMMA execution",
                                                      "CLC request",
                                                      "TMA store",
                                                      "TMA issue",
                                                      "MMA issue",
                                                      "TMEM load",
                                                      "shared memory",
                                                      "store issue",
                                                      "split-K sums",
                                                      "scheduling",
                                                      "barrier hand-over and wake-up",
                                                      "other role code",
                                                      "wait that nobody ended",
                                                      "unknown"};
  return kNames[static_cast<int>(dependency)];
}

inline constexpr uint32_t kNoSpan = UINT32_MAX;

struct PathSegment {
  uint64_t begin = 0, end = 0;  ///< ticks
  TrackId track = kNoTrack;     ///< the role or unit at work; of a hand-over, the role that waited
  Dependency kind = Dependency::unknown;
  int16_t pipeline =
      kNoName;  ///< index into Trace::names: the barrier array that it signals or waited for; "named barrier 0"
  int16_t stage = -1;       ///< of that array
  uint32_t span = kNoSpan;  ///< index into Trace::spans
  bool operator==(const PathSegment&) const = default;
};

/// All segments of one kind, role or unit, and pipeline.
struct PathShare {
  Dependency kind = Dependency::unknown;
  std::string track;     ///< name of the role or unit
  std::string pipeline;  ///< empty: none
  uint64_t ticks = 0, segments = 0;
};

struct CriticalPath {
  /// 0, where the run begins, to run_length(): the last role's end, and the time until what it stored is visible.
  uint64_t begin = 0, end = 0;
  std::vector<PathSegment> segments;  ///< in order of time; each begins where the one before ends
  std::vector<PathShare> shares;      ///< the longest first
  std::string verdict;                ///< one sentence: what limits the run
  uint64_t ticks() const { return end - begin; }
  uint64_t ticks(Dependency kind) const;
};

/// Throws std::runtime_error, one line, when the trace does not hold what it takes: only simulated runs do, since
/// schema version 3.
CriticalPath critical_path(const Trace& trace);

/// For people: the verdict, the shares, the last `steps` segments.
std::string format_critical_path(const Trace& trace, const CriticalPath& path, size_t steps = 0);

namespace detail {
/// The sentence; `path` has its segments and shares.
std::string path_verdict(const Trace& trace, const CriticalPath& path);
}  // namespace detail

}  // namespace sm100::traces
