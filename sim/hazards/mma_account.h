// SPDX-License-Identifier: Apache-2.0
/// What a thread that issues MMAs has done, for reports: where an MMA and another warp's access meet without order,
/// the mistake may be the MMA's, which reads or writes another stage than its thread hands back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "sim/hazards/shadow.h"

namespace sm100::sim {

struct Kernel;
class Warp;

/// Columns of tensor memory, [begin, end).
struct Columns {
  uint32_t begin = 0, end = 0;
  bool operator==(const Columns&) const = default;
  bool holds(Columns other) const { return begin <= other.begin && other.end <= end; }
  bool meets(Columns other) const { return begin < other.end && other.begin < end; }
};
/// Those of a footprint.
Columns columns_of(const Footprints& sets, Footprints::Id set);

struct MmaAccount {
  struct Commit {
    Clock clock;       ///< of the MMAs that it is the first to cover
    uint32_t barrier;  ///< offset
    Columns columns;   ///< of D of the last of them
    Loc loc;
  };

  /// To one barrier, from the thread's first MMA on.
  struct Committed {
    int64_t tiles = 0;  ///< commits with MMAs since the one before
    uint64_t mmas = 0;  ///< of the thread ahead of the last
    Loc doubled{};      ///< the last commit without any
    bool is_doubled = false;
  };

  int lanes = 1;                              ///< of its warp that have executed its last MMA together
  Columns columns{};                          ///< of D of its last MMA
  std::map<uint32_t, Clock> begun{};          ///< by the first column of D: the last MMA that did not add to it
  uint64_t mmas = 0;                          ///< so far
  std::deque<Commit> commits{};               ///< the last of them
  std::map<uint32_t, Committed> committed{};  ///< by barrier

  void commit(const Commit& c);
  /// The first that covers MMAs of this clock and that `is_meant` accepts; nullptr: none has, or it is forgotten.
  template <class F>
  const Commit* covering(Clock clock, F&& is_meant) const {
    for (const Commit& c : commits)
      if (c.clock >= clock && is_meant(c)) return &c;
    return nullptr;
  }
  /// The last to this barrier ahead of the MMAs of this clock; nullptr: none.
  const Commit* last_to(uint32_t barrier, Clock ahead_of) const;
};

/// The mistake behind a finding about two accesses, the first an MMA's.
struct MmaFault {
  std::string message;       ///< in the finding's place, or behind it if it begins with ':' or ';'
  std::string detail;        ///< in place of "missing: ..."
  bool of_issuer = false;    ///< the finding's place is the MMA
  const char* id = nullptr;  ///< another check; nullptr: the same
};
/// @param by       the warp of `later`
/// @param written  D of the MMA
/// @param used     by `later`, if it is a tcgen05.ld
std::optional<MmaFault> fault_of_mma(const Kernel& kernel, const MmaAccount& account, const Access& mma,
                                     const Warp& by, const Access& later, Columns written, Columns used);
/// The mistake behind one whose first access is a read of a stage, and the second the copy that fills it: the
/// reader's wait for that copy has passed on the lap before.
/// @param reader  the warp of `read`; nullptr: not known
std::optional<MmaFault> read_ahead_of_fill(const Kernel& kernel, const Warp* reader, const Access& read,
                                           const Access& fill);
/// The mistake behind one whose first access is a tcgen05.ld, and the second a write of the tensor core: the load
/// reads other columns than its warp has waited for, or the write reaches into an accumulator that is not its own.
/// @param account  of the thread that writes
std::optional<MmaFault> fault_of_reader(const Kernel& kernel, const MmaAccount& account, const Access& load,
                                        Columns read, const Access& later, Columns written);

}  // namespace sm100::sim
