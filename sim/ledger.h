// SPDX-License-Identifier: Apache-2.0
/// The barrier ledger of a kernel, as people draw it by hand: each array of mbarriers with its count, the bytes of
/// a phase, who arrives with what instruction at which line, who waits with which parity, and how many phases a CTA
/// goes through.
///
/// It is kept while a run goes on; of a PTX program, instructions that name a barrier and were not executed stand
/// in it, too.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/barrier_listener.h"
#include "sim/compiled_place.h"
#include "sim/kernel.h"

namespace sm100::sim {

/// A line of the code that arrives, brings bytes or waits.
struct LedgerEntry {
  std::string role, instruction, location;
  CompiledPlace place{};
  uint64_t times = 0;  ///< in all CTAs; 0: not executed in this run
  bool tests = false;  ///< of a wait: it may be false, and something else is done
  std::vector<uint32_t>
      parities{};  ///< of a wait: those of the first ones of one warp on the first barrier of the array
};

struct LedgerRow {
  std::string barrier;
  uint32_t offset = 0;
  int stages = 1;
  uint32_t count = 0;             ///< arrivals of a phase
  std::vector<uint64_t> bytes{};  ///< that expect_tx counts in a phase: every total that occurred, ascending
  std::vector<LedgerEntry> inits{}, arrivals{}, copies{}, waits{};
  uint64_t least_phases = 0, most_phases = 0;  ///< that completed in a CTA, over all stages
  uint64_t ctas = 0;                           ///< in which it was initialised
};

struct Ledger {
  std::vector<LedgerRow> rows;
  uint64_t least_tiles = 0, most_tiles = 0;  ///< of a CTA; 0: not known
};

class LedgerKeeper : public BarrierListener {
 public:
  void mbarrier_event(const Kernel& kernel, const models::MbarrierEvent& event) override;
  void mbarrier_wait(const Warp& warp, uint32_t offset, uint32_t parity, int64_t phase, bool tests,
                     const Loc& loc) override;

  /// Of a kernel of the run, which has ended.
  Ledger ledger(const Kernel& kernel) const;

 private:
  struct Line {
    std::string role, instruction;
    std::string location;  ///< sorts the lines of a role
    bool operator<(const Line& other) const {
      return std::tie(role, location, instruction) < std::tie(other.role, other.location, other.instruction);
    }
  };
  struct Counted {
    uint64_t times = 0;
    Loc loc{};
    bool tests = false;
    std::map<std::tuple<int, int, uint32_t>, std::vector<uint32_t>> parities;  ///< by CTA, warp and offset
  };
  using Lines = std::map<Line, Counted>;
  struct Seen {
    uint32_t count = 0;
    std::set<uint64_t> bytes;
    Lines inits, arrivals, copies, waits;
  };
  struct InCta {
    uint64_t phases = 0, expected = 0;
  };
  void count(Lines& lines, const Kernel& kernel, const models::Source& by, const std::string& instruction);

  std::map<std::pair<size_t, uint32_t>, Seen> seen_;  ///< by kernel and offset
  std::map<std::tuple<size_t, uint32_t, int, uint32_t>, InCta>
      ctas_;  ///< by kernel, offset, slot and how often it was initialised there
  std::map<std::pair<size_t, int>, uint64_t> tiles_;    ///< by kernel and CTA: as trace points name them
  std::map<std::pair<int, uint32_t>, uint32_t> lives_;  ///< by slot and offset
};

}  // namespace sm100::sim
