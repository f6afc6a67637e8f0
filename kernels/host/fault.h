// SPDX-License-Identifier: Apache-2.0
/// `[[fault]]` of a scenario: alters instructions on their way to the model; the kernel source is never edited to
/// break it.
///
/// Which instructions can be altered, and how, follows from what they are (instructions::Description) and from
/// their operands.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::host {

class TomlDocument;
class TomlTable;
struct RunPlan;
struct Scenario;

enum class FaultAction : uint8_t {
  drop,         ///< not executed: a wait is over at once, a load returns zeros, a mapa leaves the own CTA's address
  duplicate,    ///< executed `value` times, one after the other
  delay,        ///< `value` cycles pass before it
  early,        ///< a release is made when the wait for what it releases returns, before that is read
  flip_parity,  ///< waits for the other parity
  add,          ///< `value` is added to an operand; addresses and descriptors count in bytes
  clear_mask,   ///< the bits of `value` are taken out of the CTA mask
  own_cta,      ///< signals a barrier of the own CTA where another's is meant; of a multicast, the own CTA's alone
  cta_scope,    ///< .cta in place of .cluster
  all_lanes,    ///< all 32 lanes execute it
  one_lane,     ///< one lane executes it
  other_lane,   ///< the lane after the one that would executes it
};
inline constexpr std::array<std::string_view, 12> kFaultActionNames = {
    "drop",       "duplicate", "delay",     "early",     "flip_parity", "add",
    "clear_mask", "own_cta",   "cta_scope", "all_lanes", "one_lane",    "other_lane"};
static_assert(size_t(FaultAction::other_lane) + 1 == kFaultActionNames.size());
constexpr std::string_view name(FaultAction action) { return kFaultActionNames[size_t(action)]; }

/// An instruction that faults can alter, as its structs say (kernels/isa/instructions/): overloads of an Isa
/// function are one.
struct FaultInstruction {
  std::string_view name;                       ///< Isa function
  unsigned actions = 0;                        ///< bits of FaultAction
  std::array<std::string_view, 7> operands{};  ///< of `add`, which takes the first unless told

  constexpr bool allows(FaultAction action) const { return actions >> unsigned(action) & 1; }
  std::vector<std::string_view> action_names() const;
  std::vector<std::string_view> operand_names() const;
};

/// All of them, in the order of the instructions.
std::span<const FaultInstruction> faultable_instructions();
/// That Isa function; nullptr if faults cannot alter it.
const FaultInstruction* fault_instruction(std::string_view name);

/// One `[[fault]]`: the executions that it means (all that agree with what is set) and what happens to them.
struct FaultSpec {
  std::string role;         ///< "load", "mma", "scheduler", "epilogue"; empty: any
  std::string instruction;  ///< Isa function name, e.g. "mbarrier_arrive_expect_tx"
  std::string source;       ///< of role code: its line, "load_warp.h:88"; empty: any
  std::string barrier;      ///< barrier array, e.g. "input_full"; empty: any
  int stage = -1;           ///< -1: any
  int id = -1;              ///< named barrier; -1: any
  int cta = -1;             ///< of the grid; -1: any
  int launch = -1;          ///< -1: any
  int warp = -1;            ///< index in the CTA; -1: any
  int64_t occurrence = -1;  ///< n-th match per warp, from 0; -1: every one
  int64_t from = 0;         ///< first match per warp that is meant
  FaultAction action = FaultAction::drop;
  std::string operand;       ///< of "add", by its name
  int64_t value = 0;         ///< of "add", "duplicate", "delay", "clear_mask"
  bool optional = false;     ///< a run in which it alters nothing is not bad input
  std::string if_unmatched;  ///< the line that says so otherwise
};

/// Reads and checks one table of `[[fault]]`.  Throws InputError.
FaultSpec read_fault(const TomlDocument& document, const TomlTable& table, const Scenario& scenario,
                     const RunPlan& plan);

/// The keys of such a table.
std::vector<std::string> fault_keys();

}  // namespace sm100::host
