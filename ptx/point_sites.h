// SPDX-License-Identifier: Apache-2.0
/// Where a recorder's points belong in an entry: at which statements, under which state of the warp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/instrument.h"
#include "ptx/program.h"

namespace sm100::ptx {

/// What a warp is doing, one bit for each TraceEvent; 0: nothing.
using Doing = uint32_t;
constexpr Doing doing(TraceEvent event) { return 1u << unsigned(event); }
inline constexpr Doing kAnyDoing = ~0u;

/// A statement that changes what the warp is doing, or is worth a mark.
struct Site {
  PointGroup group = PointGroup::waits;
  PointKind kind = PointKind::begin;
  TraceEvent event = TraceEvent::wait;
  uint32_t statement = 0;
  /// Recorded, and `event` begins, if the warp is doing one of these.  Bit 31: or nothing.
  Doing from = kAnyDoing;
  bool over_behind = false;       ///< the statement waits: it is over behind it
  const Term* barrier = nullptr;  ///< an address; nullptr: none
  const Term* parity = nullptr;   ///< of a wait for `barrier`
  bool shared = false;            ///< it is an address of shared memory as it stands, not a generic one
  const Term* generic = nullptr;  ///< an address that must lie in `space`, else the statement is not meant
  Space space = Space::none;
};
inline constexpr Doing kNothing = 1u << 31;

/// A loop that waits for an mbarrier's parity.
struct WaitSite {
  uint32_t first = 0, last = 0;  ///< statements of the loop
  uint32_t poll = 0;             ///< statement
  const Term *barrier = nullptr, *parity = nullptr;
  bool shared = false;
  const Label* entry = nullptr;    ///< its beginning is recorded in front of this label
  std::vector<uint32_t> jumps;     ///< and in front of these branches, which lead behind it
  std::vector<uint32_t> repeated;  ///< statements of the loop that set the poll's operands, to be executed before
  std::vector<uint32_t> sets;      ///< registers that these set: Body::registers
  uint32_t exit = 0;               ///< statement: the wait is over in front of it
  const Label* exit_label = nullptr;  ///< in front of this label of it; nullptr: behind all labels
};

struct Sites {
  std::vector<Site> sites;  ///< in the order of statements; several of one statement stand together
  std::vector<WaitSite> waits;
  std::vector<uint32_t> exits;  ///< statements at which threads end
  std::vector<Unrecorded> unrecorded;
};

Sites find_sites(const Module& module, const Entry& entry, const InstrumentOptions& options);

}  // namespace sm100::ptx
