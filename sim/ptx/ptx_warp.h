// SPDX-License-Identifier: Apache-2.0
/// A warp that executes PTX on the models.  Its lanes are in groups (ptx/lane_groups.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "ptx/lane_groups.h"
#include "ptx/program.h"
#include "sim/fault_place.h"
#include "sim/ptx/ptx_code.h"
#include "sim/ptx/service_operands.h"
#include "sim/warp_context.h"

namespace sm100::sim {

class PtxWarp {
 public:
  /// @param parameters  the launch's parameter window, aligned to 64 bytes; must outlive the warp
  PtxWarp(const PtxCode& code, std::span<const uint8_t> parameters, Warp& warp,
          const models::DeviceProfile& profile, FaultInterceptor* faults);

  /// From the entry's first instruction until all lanes have exited, or the run is over.
  void run();

  WarpContext context;
  ptx::RegisterFile file;
  const PtxCode& code;

  // ---- for services
  ptx::LaneMask live() const { return live_; }
  /// A register of these rows is on its way: who reads it waits until then.
  /// @param burst  of loads that share a scoreboard; 0: it has one of its own
  void arrives(ptx::Row row, uint8_t width, models::Cycles when, uint32_t burst = 0);
  /// A register of that tcgen05.ld, which no wait::ld has covered.
  void loaded_from_tmem(ptx::Row row, uint32_t number);
  void tmem_loads_waited();
  /// Reads an operand of a unit's or a memory instruction: what it holds must be there.
  void use(const ptx::Operand& operand);
  /// Of a run without data: the register holds a value that nobody has computed, and whatever follows from it.
  void unknown(const ptx::Operand& operand);
  /// Of a run without data: some register of it does.
  bool follows_from_data(const ptx::Operand& operand) const { return unknowns_ && depends_on_unknown(operand); }
  /// Cycles of the instructions since the last service.
  void settle_alu();
  /// Ends the run: "what at place".
  PtxOutcome not_implemented(const std::string& what);
  PtxOutcome fail(const char* id, const std::string& what);
  bool over() const { return over_; }
  bool tried_lock = false;  ///< has executed atom.cas or atom.exch since its last branch back
  /// The last polls of a loop whose atomic has left the word as it was.
  struct AtomicPolls {
    uint32_t at = UINT32_MAX;  ///< of the program
    GlobalAddr address{};
    uint64_t value = 0;
    int alike = 0;
  };
  AtomicPolls atomic_polls;
  bool alone() const { return !other_groups(); }
  const uint8_t* parameter_bytes(uint64_t offset, uint64_t bytes) const;
  uint8_t* local_bytes(int lane, uint64_t offset, uint64_t bytes);
  /// Registers of a tensor load or store on their way, 128 of each lane.
  static constexpr int kTmemRegisters = 128;
  uint32_t* tmem_values(size_t registers = kTmemRegisters) {
    tmem_values_.resize(std::max(tmem_values_.size(), size_t(ptx::kLanes) * registers));
    return tmem_values_.data();
  }
  // ---- accumulators of wgmma, which belong to the tensor core until a wait
  /// Room for these registers' values, filled with them unless an instruction on its way writes them or `read` is
  /// false.
  uint32_t* accumulators(std::span<const ptx::Operand> d, bool read);
  /// The warp's wgmma.mma_async of that number has been issued with these registers.
  void accumulates(std::span<const ptx::Operand> d, std::span<const ptx::Operand> a, uint32_t number);
  /// Those up to that number have been waited for.
  void accumulated(uint32_t number);
  // ---- what the warp is doing, for traces: derived from its waits and from what it issues
  void does(TraceEvent event, const TraceArgs& args = {});
  void waits_for(SmemAddr barrier, uint32_t parity);
  void has_waited();
  bool other_groups() const { return groups_.others(); }

 private:
  enum class Stop : uint8_t { meet, yield, park, exited, over };

  void fill_changing(const ptx::Instr& i);
  Stop run_group(ptx::LaneGroup& group);
  bool execute_service(ptx::LaneGroup& group, const ptx::Instr& i, ptx::LaneMask lanes, Stop& stop);
  bool access_memory(const ptx::Instr& i, ptx::LaneMask lanes);
  bool call(const ptx::Instr& i, ptx::LaneMask lanes);
  /// At a generic address of one lane; nullptr: it may not read all of them.
  const uint8_t* readable(uint64_t address, uint32_t bytes, int lane);
  bool access_space(const ptx::Instr& i, const ptx::Access& access, ptx::Space space, bool cluster,
                    ptx::LaneMask lanes, const LaneArray<ClusterSmemAddr, 1>& shared,
                    const LaneArray<GlobalAddr, 1>& global, uint32_t bytes, uint8_t (*values)[32],
                    models::Cycles& arrives, bool& unknown);
  bool access_global(const ptx::Instr& i, const ptx::Access& access, ptx::LaneMask lanes,
                     const LaneArray<GlobalAddr, 1>& addresses, uint32_t bytes, uint8_t (*values)[32],
                     models::Cycles& arrives, bool& unknown);
  void pass_on_arrivals(const ptx::Instr& i);
  bool copies_tmem_load(const ptx::Instr& i);
  void pass_on_unknown(const ptx::Instr& i);
  uint32_t number_of(ptx::Row row) const { return code.program().row_number(row); }
  /// In lanes that execute the instruction at hand.
  bool is_unknown(ptx::Row row) const { return row.area() == 0 && (unknown_[number_of(row)] & executing_) != 0; }
  void set_unknown(ptx::Row row, bool unknown, ptx::LaneMask lanes);
  /// What an instruction writes is known.
  void known(const ptx::Operand& results);
  bool depends_on_unknown(const ptx::Operand& operand) const;
  Stop depends_on_data(const ptx::Instr& i);
  void wait_for_row(ptx::Row row);
  /// The instruction writes them: what a load was to bring there does not matter any more.
  void overwrite(const ptx::Operand& results);
  std::string place(const ptx::Instr& i) const { return code.program().place(i); }

  Warp& warp_;
  const std::span<const uint8_t> parameters_;
  std::vector<uint8_t> local_;
  std::vector<uint32_t> tmem_values_;
  uint8_t lane_values_[ptx::kLanes][32];  ///< of a load or store on its way
  ptx::LaneGroups groups_;
  uint32_t current_ = 0;  ///< instruction that executes
  ptx::LaneMask live_ = 0;
  ptx::LaneMask executing_ = 0;            ///< lanes of it
  std::array<double, ptx::kCosts> costs_;  ///< cycles, by ptx::Cost
  double alu_cycles_ = 0;
  bool over_ = false;
  std::optional<TraceEvent> doing_;  ///< the open span
  struct Awaited {
    uint32_t barrier = 0, parity = 0;
    bool operator==(const Awaited&) const = default;
  };
  Awaited awaited_;  ///< of a span that is a wait

  // Registers that are not there yet, by number of their row.
  struct Mark {
    models::Cycles ready = 0;
    uint32_t burst = 0;       ///< of the load that brings it
    ptx::LaneMask lanes = 0;  ///< `ready` is theirs; of the others another register may lie in the row
    uint32_t tmem_load = 0;
    uint32_t wgmma = 0;       ///< number of the one on its way that writes it
    uint32_t wgmma_read = 0;  ///< that may read it
    bool any() const { return ready != 0 || tmem_load != 0 || wgmma != 0 || wgmma_read != 0; }
  };
  Mark* mark_of(ptx::Row row) { return row.area() != 0 || row.at == 0 ? nullptr : &marks_[number_of(row)]; }
  /// The executing lanes' part of the row is there then; 0: it is there.
  void mark_ready(Mark& mark, models::Cycles when, uint32_t burst = 0);
  /// Who reads it waits until then.
  models::Cycles ready(const Mark& mark) const {
    return mark.burst == burst_ && burst_loads_ > kLoadsAlone ? std::max(mark.ready, burst_ready_) : mark.ready;
  }
  /// WG1: the program touches a register of a wgmma on its way.  ptxas waits there, and so does this.
  void touch_in_flight(uint32_t number, bool writes);
  std::vector<Mark> marks_;
  int marked_ = 0;  ///< rows with a mark
  // A warp has six scoreboards for what is on its way. Of loads from global memory that follow each other, ptxas 13
  // gives the first ones one each and all others one together: who waits for one of these waits for the last.
  static constexpr uint32_t kLoadsAlone = 3;
  uint32_t next_of_burst(models::Cycles when);
  uint32_t burst_ = 1;              ///< until somebody waits for the loads that are together
  uint32_t burst_loads_ = 0;        ///< of it so far
  models::Cycles burst_ready_ = 0;  ///< the last of those together is there
  std::vector<uint32_t> tmem_rows_;
  struct Accumulators {
    std::span<const ptx::Operand> registers;
    std::vector<uint32_t> values;  ///< [lane * registers + r]
    uint32_t last = 0;             ///< number of the last instruction that writes them
  };
  std::list<Accumulators> accumulators_;                  ///< on their way
  std::vector<std::pair<uint32_t, uint32_t>> fragments_;  ///< of A: mark, number
  std::vector<ptx::LaneMask> unknown_;                    ///< by number of the row
  bool unknowns_ = false;                                 ///< there has been one
};

/// An instruction of a unit on its way to it.
struct ServiceCall : ServiceOperands {
  PtxWarp& warp;
  const ptx::Instr& instr;
  uint32_t at;  ///< of the program
  sm100::Loc loc;

  WarpContext& context() const { return warp.context; }
  /// A shared address, from .shared registers or generic ones.
  uint32_t shared(const ptx::Operand& o, int lane) const { return uint32_t(address(o, lane)); }
  SmemAddr smem(size_t i) const { return {shared(operand(i), first())}; }

  template <class I>
  auto execute(const I& instruction) const {
    faults_look_at(loc);
    return context().execute(instruction, lanes, loc);
  }
  template <class I>
  auto execute(const I& instruction, ptx::LaneMask by) const {
    faults_look_at(loc);
    return context().execute(instruction, by, loc);
  }
  /// f(lanes) for lanes whose keys are alike, until one returns other than done.
  template <class Key, class F>
  PtxOutcome for_each_alike(Key&& key, F&& f) {
    for (ptx::LaneMask left = lanes; left != 0;) {
      const auto of_first = key(std::countr_zero(left));
      ptx::LaneMask alike = 0;
      for (ptx::LaneMask rest = left; rest != 0; rest &= rest - 1)
        if (key(std::countr_zero(rest)) == of_first) alike |= rest & -rest;
      left &= ~alike;
      if (const PtxOutcome outcome = f(alike); outcome != PtxOutcome::done) return outcome;
      if (warp.over()) return PtxOutcome::stop;
    }
    return PtxOutcome::done;
  }
};

}  // namespace sm100::sim
