// SPDX-License-Identifier: Apache-2.0
/// An entry of a PTX file bound to a launch: the decoded program with its addresses filled in, its parameters, and
/// for each instruction its place in the source and what carries it out.  All warps of the kernel share one.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/isa/address.h"
#include "kernels/isa/portability.h"
#include "kernels/isa/trace.h"
#include "ptx/program.h"

namespace sm100::sim {

class PtxWarp;
struct ServiceCall;

/// What an instruction of a unit leaves for the warp to do.
enum class PtxOutcome : uint8_t {
  done,
  gave_up,  ///< a wait has returned false: other lanes may go first
  stop,     ///< the run is over: a finding has been reported
};
using PtxService = PtxOutcome (*)(ServiceCall&);

/// How a service is carried out, and which lanes must be there.
struct PtxServiceEntry {
  std::string_view opcode;  ///< the beginning of it, up to a dot
  PtxService run = nullptr;
  /// Lanes that execute it together.
  enum class Together : uint8_t {
    any,   ///< those that come
    mask,  ///< those that the last operand names: shfl.sync, vote.sync …
    all,   ///< all that have not exited: .aligned
  } together = Together::any;
  /// In a run without data its operands must be known: addresses, parities, counts.  False: it only moves them.
  bool needs_values = true;
  /// Modifiers of forms that are not implemented.
  std::vector<std::string_view> refuses{};
  /// What the warp is doing from here on, until it waits or does something else.
  std::optional<TraceEvent> span{};
  /// Its first operand may still be on its way from an earlier one of its kind.
  bool accumulates = false;
};
/// The entry with the longest match; nullptr: none.
const PtxServiceEntry* ptx_service(std::string_view opcode);
/// Why an instruction of the program cannot be executed; empty: it can, as far as its text says.
std::string ptx_missing(const ptx::Program& program, const ptx::Instr& instr);
/// Of all kinds of services, for `ptx --check`.
const std::vector<PtxServiceEntry>& ptx_services();

/// Parts of the generic address space; all else is global memory.
inline constexpr uint64_t kPtxSharedWindow = 0x7f40'0000'0000, kPtxParamWindow = 0x7f50'0000'0000,
                          kPtxLocalWindow = 0x7f60'0000'0000, kPtxConstantWindow = 0x7f70'0000'0000;

struct PtxLaunch {
  Dim3 grid, block, cluster;
  uint32_t dynamic_smem_bytes = 0;
  /// Addresses in global memory of the module's `.global` and `.const` variables, in their order; empty: they are
  /// constants of the code, at kPtxConstantWindow.
  std::vector<uint64_t> variables{};
  uint64_t grid_workspace = 0;  ///< %envreg1 and %envreg2: cooperative groups' words for grid.sync(); 0: none
};

class PtxCode {
 public:
  /// `entry` is one of `module`, which must outlive the code.
  PtxCode(const ptx::Module& module, const ptx::Entry& entry, const PtxLaunch& launch);

  /// Its rows are shared (ptx/row_sharing.h).
  const ptx::Program& program() const { return program_; }
  /// The same with a row for each register, for those who ask what a register holds.
  ptx::Program as_written() const { return ptx::decode(*program_.module, *program_.entry); }
  const PtxLaunch& launch() const { return launch_; }
  /// Immediates and addresses as a CTA of that rank in its cluster sees them.
  std::span<const std::byte> constants(uint32_t rank) const { return constants_[rank]; }
  ptx::Windows windows(uint32_t rank) const;
  sm100::Loc loc(uint32_t instruction) const { return sm100::Loc(places_[instruction]); }
  /// Of an instruction of Kind::service.
  const PtxServiceEntry* service(const ptx::Instr& i) const { return services_[i.detail]; }
  /// Of an instruction that the models know: its service's, or all lanes where the instruction itself is .aligned.
  PtxServiceEntry::Together together(const ptx::Instr& i) const { return together_[i.detail]; }
  /// It is of a form that is not implemented.
  bool refused(const ptx::Instr& i) const { return refused_[i.detail]; }
  /// Its first operand is what it writes.
  bool has_result(const ptx::Instr& i) const { return results_[i.detail]; }
  /// The loop that an instruction polls for, or nullptr.
  const ptx::Wait* wait_of(uint32_t instruction) const { return waits_[instruction]; }
  /// It is an mbarrier.try_wait or test_wait whose answer decides nothing.
  bool ignores_answer(uint32_t instruction) const { return ignored_[instruction]; }
  /// The instruction is an atomic that a loop executes until it answers otherwise, and which does nothing else.
  bool atomic_poll(uint32_t instruction) const { return atomic_polls_[instruction]; }
  /// Module variables of .const and .global, at kPtxConstantWindow; none if the launch says where they lie.
  const std::vector<uint8_t>& constant_bytes() const { return constant_bytes_; }

 private:
  void place_symbols();
  std::vector<uint64_t> place_variables();
  void place_instructions();
  void place_service(const ptx::Instr& i);

  const PtxLaunch launch_;
  ptx::Program program_;
  std::vector<std::vector<std::byte>> constants_;    ///< by rank
  std::vector<sm100::Loc::Place> places_;            ///< by instruction
  std::deque<std::string> texts_;                    ///< that places point to
  std::vector<const PtxServiceEntry*> services_;     ///< by Instr::detail
  std::vector<bool> refused_, results_;              ///< by Instr::detail
  std::vector<const ptx::Wait*> waits_;              ///< by instruction
  std::vector<bool> atomic_polls_, ignored_;         ///< by instruction
  std::vector<PtxServiceEntry::Together> together_;  ///< by Instr::detail
  std::vector<uint8_t> constant_bytes_;
};

}  // namespace sm100::sim
