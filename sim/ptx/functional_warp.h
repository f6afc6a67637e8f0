// SPDX-License-Identifier: Apache-2.0
/// Warps, CTAs and clusters of a launch without models (functional_grid.h).  A gang is the CTAs that run
/// interleaved on one thread of the host: those of a cluster.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ptx/lane_groups.h"
#include "sim/ptx/functional_grid.h"
#include "sim/ptx/lane_moves.h"
#include "sim/ptx/ptx_code.h"
#include "sim/ptx/service_operands.h"
#include "sim/ptx/special_values.h"

namespace sm100::sim {

class FunctionalWarp;
struct FunctionalGang;

/// How an instruction beyond arithmetic is carried out.
struct FunctionalService {
  std::string_view opcode;  ///< the beginning of it, up to a dot
  /// False: the launch is over.
  bool (*run)(FunctionalWarp&, const ServiceOperands&, const ptx::Instr&) = nullptr;
  PtxServiceEntry::Together together = PtxServiceEntry::Together::any;
  std::vector<std::string_view> refuses{};
};
const std::vector<FunctionalService>& functional_services();
std::vector<FunctionalService> functional_atomics();
std::vector<FunctionalService> functional_wmma();

/// What every warp of a launch reads.
class FunctionalCode {
 public:
  explicit FunctionalCode(const FunctionalLaunch& launch);

  const FunctionalLaunch& launch;
  const PtxCode code;
  SpecialRows specials;
  uint32_t shared_bytes = 0;  ///< of a CTA's window, from its address 0

  /// What executing an ld or st looks at first lies side by side.
  struct alignas(64) Memory {
    LaneMove move;
    ptx::Space space;
    bool together;             ///< all lanes may move their bytes at once, and nobody asks which
    uint32_t element, bytes;   ///< of one value, and of all
    const uint8_t* parameter;  ///< of the window, which every lane loads; nullptr: it does not
  };
  std::vector<Memory> memory;                      ///< by Instr::detail
  std::vector<const FunctionalService*> services;  ///< by Instr::detail; nullptr: not implemented
  /// Of a branch that closes a loop which waits for a word in memory.
  bool spins(uint32_t branch) const { return spin_[branch]; }
  /// Instructions from `at` on, up to this one, compute or move bytes, one after the other; `at`: it is of another
  /// kind.
  uint32_t run_end(uint32_t at) const { return runs_[at].end; }
  /// Divisions among the instructions [from, to) of such a run.
  uint32_t divisions(uint32_t from, uint32_t to) const { return runs_[to].divisions - runs_[from].divisions; }

  // Shared by the threads.
  /// The module's variables, if the launch does not say where they lie: at kPtxConstantWindow, for this launch.
  mutable std::vector<uint8_t> variables;
  mutable std::atomic<uint64_t> last_gang = UINT64_MAX;  ///< a gang behind it need not go on: this one has failed
  mutable std::atomic<uint64_t> warp_instructions = 0;   ///< of gangs that have ended or come to the end of a turn

 private:
  const uint8_t* parameter_of(const ptx::Access& access) const;
  void find_runs();
  void find_repeated_addresses();

  std::vector<bool> spin_;
  struct Run {
    uint32_t end, divisions;  ///< divisions: in front of the instruction, of the whole program
  };
  std::vector<Run> runs_;  ///< by instruction, and one more
};

struct FunctionalCta {
  FunctionalCta(const FunctionalCode& code, FunctionalGang& gang, uint32_t rank);
  /// Becomes another CTA of the grid, at its first instruction.
  void start(uint64_t index_in_grid, Dim3 ctaid);

  struct Barrier {
    uint32_t arrived = 0;     ///< threads
    uint64_t generation = 0;  ///< completed so often
    uint32_t expected = 0;    ///< 0: all threads
    uint32_t yes = 0, asked = 0;
    uint32_t result_yes = 0, result_asked = 0;  ///< of bar.red, of the last generation
  };
  static constexpr int kBarriers = 16;

  const FunctionalCode& code;
  FunctionalGang& gang;
  uint64_t index = 0;
  Dim3 id;
  const uint32_t rank;  ///< in its cluster
  std::vector<uint8_t> shared;
  Barrier barriers[kBarriers];
  uint32_t used = 0;                                   ///< barriers, as bits, where threads have arrived
  std::vector<std::unique_ptr<FunctionalWarp>> warps;  ///< also those that have exited
  uint32_t live_warps = 0;
  std::string printed;

  /// Threads of the CTA arrive; completes the barrier if they are the last.
  void arrive(Barrier& barrier, uint32_t threads, uint32_t expected);
  void warp_exited();

 private:
  void complete_if_all(Barrier& barrier);
};

struct FunctionalGang {
  explicit FunctionalGang(const FunctionalCode& code);
  /// Becomes this one of the grid's gangs, at its first instruction: short CTAs come and go, what they are made of
  /// stays.
  void start(uint64_t index_in_grid);

  enum class State : uint8_t { done, suspended, failed };
  /// Until all its warps have exited, or those that are left spin on memory.
  State run();

  const FunctionalCode& code;
  uint64_t index = 0;
  std::vector<std::unique_ptr<FunctionalCta>> ctas;
  FunctionalResult failure;  ///< of the first warp that could not go on
  bool failed = false;
  bool progressed = false;    ///< in the last run() something else happened than polls
  bool turn_is_over = false;  ///< the last run() ended because it had taken long
  uint64_t warp_instructions = 0, issue_cycles = 0;
  uint64_t uncounted = 0;  ///< of the warp instructions: FunctionalCode does not know of them yet

  // barrier.cluster
  uint32_t live_warps = 0, cluster_arrived = 0;
  uint64_t cluster_generation = 0;
  void cluster_arrive();
  void cluster_complete_if_all();

  /// All that are left wait for ever.
  FunctionalResult stuck() const;
  bool has_printed() const;
  std::string printed() const;

 private:
  std::string waiting() const;
  void over_limit();
};

class FunctionalWarp {
 public:
  FunctionalWarp(FunctionalCta& cta, uint32_t index);
  /// Begins, as a warp of the CTA that its `cta` has become.
  void start();

  enum class Stop : uint8_t {
    exited,
    blocked,  ///< at a barrier
    spins,    ///< every group has polled in vain
    slice,    ///< its share of instructions is used up
    failed,
  };
  /// Runs on, which a blocked one may not; counts instructions for its gang.
  Stop run();
  bool exited() const { return live_ == 0; }
  /// What it is blocked at has completed.
  bool may_run();
  /// The last run() did nothing but poll.
  bool in_vain() const { return in_vain_; }
  /// "bar.sync 0 at x.ptx:12", of a blocked warp or one that spins.
  std::string where() const;

  // ---- for services
  FunctionalCta& cta;
  const FunctionalCode& code;
  ptx::RegisterFile file;
  const uint32_t index;

  /// Ends the launch.  @return false
  bool fail(FunctionalEnd end, const char* check, int lane, const std::string& what);
  bool not_implemented(const std::string& what) {
    return fail(FunctionalEnd::not_implemented, "", 0, "not implemented: " + what);
  }
  /// The instruction's text, and its place.
  std::string instruction() const;

  /// Bytes at a lane's address in a space; nullptr: the launch has ended.  `own` of a CTA's own shared memory.
  uint8_t* bytes_at(ptx::Space space, uint64_t address, uint32_t bytes, int lane, bool store);
  uint8_t* global_bytes(uint64_t address, uint32_t bytes) {
    const uint64_t in = address - global_.first;
    return in < global_.bytes && bytes <= global_.bytes - in ? global_.host + in : find_global(address, bytes);
  }
  /// For who asks what the launch reads and writes; of bytes that are not global, nothing.
  void record(const uint8_t* at, uint64_t bytes, bool reads, bool writes, bool strong) {
    if (!accesses_) return;
    if (const uint64_t address = global_address(at))
      accesses_->add(address, bytes, reads, writes, strong, cursors_[writes]);
  }
  /// Of bytes that bytes_at() has just given; 0: they are not global.
  uint64_t global_address(const uint8_t* at) const {
    const auto in = uint64_t(at - global_.host);
    return in < global_.bytes ? global_.first + in : 0;
  }
  uint8_t* local_bytes(int lane, uint64_t offset, uint64_t bytes);
  /// The warp waits until a barrier has completed so often; `reduction`: it writes the result of bar.red then.
  void block_at(FunctionalCta::Barrier& barrier, uint64_t generation, const ServiceOperands* reduction = nullptr);
  void block_at_cluster(uint64_t generation);
  bool tried_lock = false;      ///< has executed atom.cas or atom.exch
  uint64_t cluster_ticket = 0;  ///< the generation that its last arrival completes

 private:
  Stop run_group(ptx::LaneGroup& group);
  bool compute(uint32_t from, uint32_t to, ptx::LaneMask group);
  /// ld and st.  Most are by all lanes, side by side, and pass through here alone.
  bool access(const ptx::Instr& i, ptx::LaneMask lanes) {
    const FunctionalCode::Memory& how = code.memory[i.detail];
    if (how.together && lanes == ptx::kAllLanes) {
      const LanePlaces::Entry& known = places_.of(how.move.address_row());
      if (!how.move.follows(known)) look(how);
      if (how.move.run_together(file, known) || how.move.run(file, known.region, lanes)) return true;
    }
    return access_lanes(code.code.program().accesses[i.detail], how, lanes);
  }
  /// At the row of addresses of an instruction by all lanes.
  void look(const FunctionalCode::Memory& how);
  bool access_lanes(const ptx::Access& access, const FunctionalCode::Memory& how, ptx::LaneMask lanes);
  void load_parameter(const ptx::Access& access, const FunctionalCode::Memory& how, ptx::LaneMask lanes);
  /// As a plain move's run(), and `accesses_` hears of it.
  bool move_recorded(const ptx::Access& access, const FunctionalCode::Memory& how, const MemoryRegion& region,
                     ptx::LaneMask lanes);
  template <bool kStore>
  bool move_lanes(const ptx::Access& access, const FunctionalCode::Memory& how, ptx::LaneMask lanes);
  /// Where the bytes at an address lie, as far as it is known without a look at each lane; until the next call.
  const MemoryRegion& region_of(ptx::Space space, uint64_t address) {
    const bool perhaps_global =
        space == ptx::Space::global || space == ptx::Space::generic || space == ptx::Space::none;
    if (perhaps_global && address - global_.first < global_.bytes) return global_;
    if (space == ptx::Space::shared && address - shared_.first < shared_.bytes) return shared_;
    return find_region(space, address);
  }
  const MemoryRegion& find_region(ptx::Space space, uint64_t address);
  uint8_t* find_global(uint64_t address, uint32_t bytes);
  struct Found {
    uint8_t* bytes;  ///< nullptr: `where` says why, a finding of `check`
    const char *check, *where;
  };
  Found find_bytes(ptx::Space space, uint64_t address, uint32_t bytes, int lane, bool store);
  bool call(const ptx::Instr& i, ptx::LaneMask lanes);
  bool service(ptx::LaneGroup& group, const ptx::Instr& i, ptx::LaneMask lanes, Stop& stop);

  ptx::LaneGroups groups_;
  ptx::LaneMask live_ = 0;
  std::vector<uint8_t> local_;
  MemoryRegion global_;  ///< the allocation that was reached last
  MemoryRegion shared_;  ///< of the own CTA
  MemoryRegion other_;   ///< that region_of() has found last
  models::AccessMap* const accesses_;
  models::AccessMap::Cursor cursors_[2];  ///< of what it reads, of what it writes
  LanePlaces places_;
  uint32_t current_ = 0;                   ///< instruction that executes
  uint64_t executed_ = 0, slice_end_ = 0;  ///< instructions
  uint64_t divisions_ = 0;
  bool blocked_ = false, in_vain_ = false;
  FunctionalCta::Barrier* barrier_ = nullptr;
  uint64_t generation_ = 0;  ///< that it waits for, of `barrier_` or of the cluster's
  const ptx::Service* reduction_ = nullptr;
  ptx::LaneMask reducing_ = 0;
};

}  // namespace sm100::sim
