// SPDX-License-Identifier: Apache-2.0
/// `[[fault]]` of a scenario: alters instructions on their way to the model; the kernel source is never edited to break it.
///
/// The table below is the one place that says which instructions of the seam can be altered and how: the reader checks
/// against it, `sm100sim list faults` prints it, and FaultIsa compiles only with instructions that it has.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
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
  add,          ///< `value` is added to an operand
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

/// What `add` can change.  Addresses and descriptors count in bytes.
enum class FaultOperand : uint8_t {
  none,
  count,           ///< of mbarrier.init
  bytes,           ///< of expect_tx
  barrier,         ///< address of the mbarrier; +8 is the next stage's
  rank,            ///< of mapa
  address,         ///< of a load, a store, mapa, or what tcgen05.alloc writes to
  threads,         ///< of a named barrier
  id,              ///< of a named barrier
  x,               ///< innermost coordinate of a tensor copy
  y,               ///< the next one
  smem,            ///< address of a tensor copy in shared memory
  pending,         ///< of wait_group
  columns,         ///< of tcgen05.alloc and .dealloc
  column,          ///< of a tensor-memory address
  a,               ///< start address in an MMA's descriptor of A
  b,               ///< the same of B
  enable_input_d,  ///< +1: accumulates, -1: does not
  cta_group,       ///< of tcgen05
  response,        ///< address of a CLC response
  value,           ///< of a word in global memory
};
inline constexpr std::array<std::string_view, 20> kFaultOperandNames = {
    "none", "count",   "bytes",   "barrier", "rank", "address", "threads",        "id",        "x",        "y",
    "smem", "pending", "columns", "column",  "a",    "b",       "enable_input_d", "cta_group", "response", "value"};
static_assert(size_t(FaultOperand::value) + 1 == kFaultOperandNames.size());
constexpr std::string_view name(FaultOperand operand) { return kFaultOperandNames[size_t(operand)]; }

/// An instruction that faults can alter.
struct FaultInstruction {
  std::string_view name;     ///< Isa function
  unsigned actions;          ///< bits of FaultAction
  FaultOperand operands[4];  ///< of `add`, which takes the first unless told

  constexpr bool allows(FaultAction action) const { return actions >> unsigned(action) & 1; }
  std::vector<std::string_view> action_names() const;
  std::vector<std::string_view> operand_names() const;
};

namespace fault_table {

template <class... Actions>
constexpr unsigned bits(Actions... actions) {
  return (0u | ... | (1u << unsigned(actions)));
}
using enum FaultAction;
using enum FaultOperand;

constexpr unsigned kStep = bits(drop, duplicate, delay);             ///< instructions that return nothing
constexpr unsigned kRead = bits(drop, delay);                        ///< instructions that return something
constexpr unsigned kThread = bits(all_lanes, one_lane, other_lane);  ///< each lane executes it by itself
constexpr unsigned kAdd = bits(add);

inline constexpr FaultInstruction kRows[] = {
    {"mbarrier_init", kStep | kThread | kAdd, {count, barrier}},
    {"mbarrier_arrive", kStep | kThread | kAdd | bits(early, own_cta, cta_scope), {barrier}},
    {"mbarrier_arrive_expect_tx", kStep | kThread | kAdd | bits(own_cta, cta_scope), {bytes, barrier}},
    {"mbarrier_try_wait_parity", kRead | kAdd | bits(flip_parity, cta_scope), {barrier}},
    {"fence_mbarrier_init", kStep, {}},
    {"mapa", kRead | kAdd, {rank, address}},

    {"bar_sync", kStep | kAdd, {threads, id}},
    {"bar_arrive", kStep | kAdd, {threads, id}},
    {"bar_warp_sync", kStep, {}},
    {"barrier_cluster_arrive", kStep, {}},
    {"barrier_cluster_wait", kStep, {}},
    {"fence_proxy_async_shared_cta", kStep, {}},
    {"griddepcontrol_wait", kStep, {}},
    {"griddepcontrol_launch_dependents", kStep, {}},

    {"ld_shared_u32", kRead | kAdd, {address}},
    {"ld_shared_b128", kRead | kAdd, {address}},
    // No drop: a poll that reads nothing would never end.
    {"ld_acquire_gpu_global_u32", kAdd | bits(delay), {value, address}},
    {"st_release_gpu_global_u32", kStep | kThread | kAdd, {value, address}},

    {"cp_async_bulk_tensor_shared_global", kStep | kThread | kAdd | bits(own_cta), {x, y, smem, barrier}},
    {"cp_async_bulk_tensor_shared_global_multicast",
     kStep | kThread | kAdd | bits(own_cta, clear_mask),
     {x, y, smem, barrier}},
    {"cp_async_bulk_tensor_global_shared", kStep | kThread | kAdd, {x, y, smem}},
    {"cp_async_bulk_commit_group", kStep, {}},
    {"cp_async_bulk_wait_group_read", kStep | kAdd, {pending}},
    {"cp_async_bulk_wait_group", kStep | kAdd, {pending}},

    {"tcgen05_alloc", kStep | kAdd, {columns, address, cta_group}},
    {"tcgen05_dealloc", kStep | kAdd, {columns, column, cta_group}},
    {"tcgen05_relinquish_alloc_permit", kStep | kAdd, {cta_group}},
    {"tcgen05_mma", kStep | kThread | kAdd, {column, a, b, enable_input_d}},
    {"tcgen05_commit", kStep | kThread | kAdd, {barrier, cta_group}},
    {"tcgen05_commit_multicast", kStep | kThread | kAdd | bits(own_cta, clear_mask), {barrier, cta_group}},
    {"tcgen05_ld_16x256b", kRead | kAdd, {column}},
    {"tcgen05_ld_32x32b", kRead | kAdd, {column}},
    {"tcgen05_wait_ld", kStep, {}},
    {"tcgen05_st_16x256b", kStep | kAdd, {column}},
    {"tcgen05_wait_st", kStep, {}},
    {"tcgen05_fence_before_thread_sync", kStep, {}},
    {"tcgen05_fence_after_thread_sync", kStep, {}},

    {"clusterlaunchcontrol_try_cancel", kStep | kThread | kAdd, {response, barrier}},
    {"clusterlaunchcontrol_try_cancel_multicast", kStep | kThread | kAdd | bits(own_cta), {response, barrier}},
};

}  // namespace fault_table

inline constexpr const auto& kFaultInstructions = fault_table::kRows;

/// Number of the instruction's row; -1 if faults cannot alter it.
constexpr int fault_row(std::string_view name) {
  // By index: under UBSan a compiler takes no comparison of addresses for a constant.
  for (int i = 0; i < int(std::size(fault_table::kRows)); ++i)
    if (fault_table::kRows[i].name == name) return i;
  return -1;
}
/// The instruction's row; nullptr if faults cannot alter it.
constexpr const FaultInstruction* fault_instruction(std::string_view name) {
  const int row = fault_row(name);
  return row < 0 ? nullptr : &fault_table::kRows[row];
}

/// One `[[fault]]`: the executions that it means (all that agree with what is set) and what happens to them.
struct FaultSpec {
  std::string role;         ///< "load", "mma", "scheduler", "epilogue"; empty: any
  std::string instruction;  ///< Isa function name, e.g. "mbarrier_arrive_expect_tx"
  std::string barrier;      ///< barrier array, e.g. "input_full"; empty: any
  int stage = -1;           ///< -1: any
  int id = -1;              ///< named barrier; -1: any
  int cta = -1;             ///< of the grid; -1: any
  int launch = -1;          ///< -1: any
  int warp = -1;            ///< index in the CTA; -1: any
  int64_t occurrence = -1;  ///< n-th match per warp, from 0; -1: every one
  int64_t from = 0;         ///< first match per warp that is meant
  FaultAction action = FaultAction::drop;
  FaultOperand operand = FaultOperand::none;  ///< of "add"
  int64_t value = 0;                          ///< of "add", "duplicate", "delay", "clear_mask"
  bool optional = false;                      ///< a run in which it alters nothing is not bad input
  std::string if_unmatched;                   ///< the line that says so otherwise
};

/// Reads and checks one table of `[[fault]]`.  Throws InputError.
FaultSpec read_fault(const TomlDocument& document, const TomlTable& table, const Scenario& scenario,
                     const RunPlan& plan);

/// The keys of such a table.
std::vector<std::string> fault_keys();

}  // namespace sm100::host
