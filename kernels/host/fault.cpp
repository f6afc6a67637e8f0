// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "kernels/host/kernel_run.h"
#include "kernels/host/ptx_file.h"
#include "kernels/host/read_config.h"
#include "kernels/host/run_plan.h"
#include "kernels/isa/instructions/catalogue.h"
#include "kernels/ptx_launch/host/ptx_run.h"
#include "ptx/program.h"

namespace sm100::host {
namespace {

template <class... Actions>
constexpr unsigned bits(Actions... actions) {
  return (0u | ... | (1u << unsigned(actions)));
}

/// What may happen to an instruction, of what it is.
template <class I>
constexpr unsigned actions_on() {
  using enum FaultAction;
  using instructions::Alterable;
  constexpr instructions::Description d = I::kIs;
  unsigned actions = 0;
  switch (d.faults) {
    case Alterable::no: return 0;
    case Alterable::step: actions = bits(drop, duplicate, delay); break;
    case Alterable::read: actions = bits(drop, delay); break;
    case Alterable::poll: actions = bits(delay); break;
  }
  if (d.each_lane) actions |= bits(all_lanes, one_lane, other_lane);
  if (d.other_ctas) actions |= bits(own_cta);
  if (d.releases) actions |= bits(early);
  if (!d.add[0].empty()) actions |= bits(add);
  if (instructions::has_operand<I>("parity")) actions |= bits(flip_parity);
  if (instructions::has_operand_of<Scope, I>()) actions |= bits(cta_scope);
  if (instructions::has_operand_of<CtaMask, I>()) actions |= bits(clear_mask);
  return actions;
}

std::vector<FaultInstruction> faultable() {
  std::vector<FaultInstruction> rows;
  instructions::for_each_instruction([&]<class I>(instructions::Type<I>) {
    constexpr unsigned actions = actions_on<I>();
    if (actions == 0) return;
    const auto same = [](const FaultInstruction& row) { return row.name == I::kIs.function; };
    if (const auto known = std::find_if(rows.begin(), rows.end(), same); known != rows.end())
      known->actions |= actions;
    else
      rows.push_back({I::kIs.function, actions, I::kIs.add});
  });
  return rows;
}

/// Most stages among the arrays that `barrier` can mean (empty: any).
int stages_of(const std::vector<BarrierArray>& arrays, std::string_view barrier) {
  int most = 0;
  for (const BarrierArray& array : arrays)
    if (barrier.empty() || barrier == array.name) most = std::max(most, array.stages);
  return most;
}

/// Isa functions that the kernel calls and a fault can alter.
std::vector<std::string_view> faulty_instructions(const KernelDefinition& kernel) {
  if (!kernel.fault_instructions.empty())
    return {kernel.fault_instructions.begin(), kernel.fault_instructions.end()};
  std::vector<std::string_view> names;
  for (const FaultInstruction& row : faultable_instructions()) names.push_back(row.name);
  return names;
}

std::string quoted(const std::vector<std::string_view>& words) {
  return fmt::format("\"{}\"", fmt::join(words, "\", \""));
}

/// A fault on griddepcontrol: there are no barriers, and it needs something to depend on.
void check_launch_fault(const TomlDocument& document, const TomlTable& table, const Scenario& s,
                        const KernelRun& kernel) {
  for (const char* key : {"barrier", "stage"})
    if (table.has(key)) throw document.error(table.path(key), "griddepcontrol has no barrier");
  if (!kernel.launch().pdl || (s.launches == 1 && s.launch_list.empty()))
    throw document.error(table.path("instruction"),
                         "griddepcontrol needs config.pdl = true and run.launches of 2 or more");
}

/// Which executions are meant.
void read_selection(const TomlDocument& document, const TomlTable& table, const Scenario& scenario,
                    const KernelRun& kernel, FaultSpec& fault) {
  const auto arrays = kernel.barriers();
  if (fault.instruction.starts_with("griddepcontrol")) check_launch_fault(document, table, scenario, kernel);
  const bool any = arrays.empty();  // the kernel states no table: barriers get their names when it runs
  if (table.has("barrier"))
    fault.barrier = any ? table.string("barrier") : table.word("barrier", barrier_names(arrays));
  const int stages = any ? INT_MAX : stages_of(arrays, fault.barrier);
  if (stages == 0 && !fault.barrier.empty())
    throw document.error(table.path("barrier"), "this configuration has none (clc_stages = 0)");
  if (table.has("stage")) fault.stage = read_int(table, "stage", 0, stages - 1);
  if (table.has("id")) {
    if (fault.instruction != "bar_sync" && fault.instruction != "bar_arrive")
      throw document.error(table.path("id"), "allowed for \"bar_sync\" and \"bar_arrive\" only (named barriers)");
    fault.id = read_int(table, "id", 0, 15);
  }
  const LaunchShape launch = kernel.launch();
  const int64_t ctas = int64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  if (table.has("cta")) fault.cta = read_int(table, "cta", 0, int(std::min<int64_t>(ctas - 1, INT_MAX)));
  if (table.has("warp")) fault.warp = read_int(table, "warp", 0, launch.warps - 1);
  if (table.has("occurrence")) fault.occurrence = table.integer("occurrence", 0, INT64_MAX);
  if (table.has("from")) {
    fault.from = table.integer("from", 0, INT64_MAX);
    if (table.has("occurrence"))
      throw document.error(table.path("from"), "allowed without occurrence only (it means that one and all later)");
  }
}

FaultAction read_action(const TomlDocument& document, const TomlTable& table, const FaultInstruction& row,
                        const FaultSpec& fault) {
  const std::string word = table.word("action", {kFaultActionNames.begin(), kFaultActionNames.end()});
  const auto at = std::find(kFaultActionNames.begin(), kFaultActionNames.end(), word);
  const auto action = FaultAction(at - kFaultActionNames.begin());
  if (!row.allows(action))
    throw document.error(table.path("action"),
                         fmt::format("allowed for {} are {}", row.name, quoted(row.action_names())));
  if (action == FaultAction::early && fault.barrier != "clc_empty" && fault.barrier != "accum_empty")
    throw document.error(table.path("action"),
                         "allowed with barrier \"clc_empty\" and \"accum_empty\" only (all lanes of a warp release "
                         "what they waited for)");
  return action;
}

std::string read_operand(const TomlDocument& document, const TomlTable& table, const FaultInstruction& row,
                         FaultAction action) {
  if (action != FaultAction::add) {
    if (table.has("operand")) throw document.error(table.path("operand"), "allowed with action \"add\" only");
    return "";
  }
  return table.has("operand") ? table.word("operand", row.operand_names()) : std::string(row.operands[0]);
}

int64_t read_added(const TomlDocument& document, const TomlTable& table, std::string_view operand) {
  // The fields of the barrier word have 20 bits.
  const bool word = operand == "count" || operand == "bytes";
  const bool descriptor = operand == "a" || operand == "b";  // of 64 bits
  const int64_t most = word ? (1 << 20) - 1 : descriptor ? INT64_MAX : INT32_MAX;
  const int64_t value = table.integer("value", -most, most);
  if (descriptor && value % 16 != 0)
    throw document.error(table.path("value"), "allowed are multiples of 16 (descriptors count in 16 bytes)");
  return value;
}

int64_t read_value(const TomlDocument& document, const TomlTable& table, const FaultSpec& fault) {
  switch (fault.action) {
    case FaultAction::add: return read_added(document, table, fault.operand);
    case FaultAction::delay: return table.integer("value", 1, 1'000'000'000);
    case FaultAction::clear_mask: return table.integer("value", 1, 0xffff);
    case FaultAction::duplicate: return table.has("value") ? table.integer("value", 2, 1024) : 2;
    default: break;
  }
  if (table.has("value"))
    throw document.error(table.path("value"),
                         "allowed with actions \"add\", \"delay\", \"clear_mask\" and \"duplicate\" only");
  return 0;
}

}  // namespace

std::vector<std::string_view> FaultInstruction::action_names() const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kFaultActionNames.size(); ++i)
    if (allows(FaultAction(i))) names.push_back(kFaultActionNames[i]);
  return names;
}

std::vector<std::string_view> FaultInstruction::operand_names() const {
  std::vector<std::string_view> names;
  for (const std::string_view operand : operands)
    if (!operand.empty()) names.push_back(operand);
  return names;
}

std::span<const FaultInstruction> faultable_instructions() {
  static const std::vector<FaultInstruction> rows = faultable();
  return rows;
}

const FaultInstruction* fault_instruction(std::string_view name) {
  for (const FaultInstruction& row : faultable_instructions())
    if (row.name == name) return &row;
  return nullptr;
}

std::vector<std::string> fault_keys() {
  return {"role",   "instruction", "line",       "source", "barrier", "stage",   "id",    "cta",
          "launch", "warp",        "occurrence", "from",   "action",  "operand", "value", "optional"};
}

namespace {

/// Of a fault by line: "line 547" for the PTX's, "source gemm.cu:143" for that of the source, as
/// FaultSpec::instruction has it. Some instruction must stand there that faults can alter.
std::string read_place(const TomlDocument& document, const TomlTable& table, const Scenario& scenario,
                       const KernelRun& kernel) {
  const bool by_source = table.has("source");
  const char* const key = by_source ? "source" : "line";
  for (const char* other : {"instruction", by_source ? "line" : "instruction"})
    if (table.has(other))
      throw document.error(table.path(key), fmt::format("not together with {}: it names the instruction", other));
  const PtxFile* const file = ptx_of(scenario, kernel);
  if (!file)
    throw document.error(table.path(key), by_source ? "with role code it narrows an instruction: name that, too"
                                                    : "allowed where warps execute PTX: kernel = \"ptx\", or run.ptx");
  const std::string source = by_source ? table.string("source") : "";
  const int64_t line = by_source ? 0 : table.integer("line", 1, INT_MAX);
  const ptx::Module& module = *file->module;
  const ptx::Program program = ptx::decode(module, file->entry());
  std::string there;
  for (const ptx::Instr& i : program.code) {
    if (by_source ? module.place(i.loc) != source : int64_t(i.line) != line) continue;
    if (i.kind == ptx::Kind::service) return by_source ? "source " + source : fmt::format("line {}", line);
    there = program.text(i);
  }
  const std::string where = by_source ? source : fmt::format("line {} of {}", line, module.name);
  if (there.empty())
    throw document.error(table.path(key),
                         fmt::format("no instruction of {} stands at {}", file->entry().name, where));
  throw document.error(table.path(key),
                       fmt::format("{} has {}: faults alter instructions of units and of synchronisation "
                                   "(sm100sim list faults), not loads, stores and arithmetic",
                                   where, there));
}

FaultAction read_any_action(const TomlDocument& document, const TomlTable& table) {
  const std::string word = table.word("action", {kFaultActionNames.begin(), kFaultActionNames.end()});
  const auto at = std::find(kFaultActionNames.begin(), kFaultActionNames.end(), word);
  const auto action = FaultAction(at - kFaultActionNames.begin());
  if (action == FaultAction::early)
    throw document.error(table.path("action"), "not allowed with line: it moves a release of role code");
  return action;
}

/// Which instruction it is shows when it is executed: an action or operand that it does not have alters nothing.
void read_fault_by_place(const TomlDocument& document, const TomlTable& table, const Scenario& scenario,
                         const KernelRun& kernel, FaultSpec& fault) {
  fault.instruction = read_place(document, table, scenario, kernel);
  read_selection(document, table, scenario, kernel, fault);
  fault.action = read_any_action(document, table);
  if (table.has("operand")) fault.operand = table.string("operand");
  fault.value = read_value(document, table, fault);
}

}  // namespace

FaultSpec read_fault(const TomlDocument& document, const TomlTable& table, const Scenario& scenario,
                     const RunPlan& plan) {
  FaultSpec fault;
  fault.launch = read_launch(table, scenario).value_or(-1);
  const PlannedKernel& planned = plan.kernel_of(std::max(fault.launch, 0));
  const KernelRun& kernel = *planned.run;
  if (!planned.definition->result)
    throw document.error(planned.name.empty() ? "fault" : table.path("launch"),
                         fmt::format("kernel {} is a microbenchmark; faults are for the kernels with a result",
                                     planned.definition->name));
  if (table.has("role")) fault.role = table.word("role", kernel.roles());
  // Role code has several instructions in a line: there `source` narrows `instruction`.
  const bool narrows = table.has("source") && table.has("instruction") && !ptx_of(scenario, kernel);
  if (narrows) fault.source = table.string("source");
  const bool by_place = table.has("line") || (table.has("source") && !narrows);
  if (by_place) {
    read_fault_by_place(document, table, scenario, kernel, fault);
  } else {
    fault.instruction = table.word("instruction", faulty_instructions(*planned.definition));
    read_selection(document, table, scenario, kernel, fault);
    const FaultInstruction& row = *fault_instruction(fault.instruction);
    fault.action = read_action(document, table, row, fault);
    fault.operand = read_operand(document, table, row, fault.action);
    fault.value = read_value(document, table, fault);
  }
  if (table.has("optional")) fault.optional = table.boolean("optional");
  fault.if_unmatched = document.message(
      table.path(table.has("line")     ? "line"
                 : table.has("source") ? "source"
                                       : "instruction"),
      by_place
          ? "the fault altered nothing in this run: the line was not executed, or what stands there has no such "
            "action or operand (sm100sim list faults; allowed with optional = true)"
          : "the fault matched no instruction of this run (allowed with optional = true)");
  return fault;
}

}  // namespace sm100::host
