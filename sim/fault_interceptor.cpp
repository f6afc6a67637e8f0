// SPDX-License-Identifier: Apache-2.0
#include "sim/fault_interceptor.h"

#include <algorithm>

#include "sim/compiled_place.h"
#include "sim/cta.h"
#include "sim/fault_place.h"
#include "sim/text.h"

namespace sm100::sim {

using host::FaultSpec;

namespace {

Loc& next_place() {
  static Loc place;
  return place;
}

/// "line 547", "source gemm.cu:143": what a front end executes now stands there, and allows what the fault does.
bool stands_at(const FaultSpec& f, std::string_view function) {
  const CompiledPlace place = place_of(next_place());
  if (place.ptx.line == 0) return false;
  constexpr std::string_view kLine = "line ", kSource = "source ";
  const std::string_view wanted = f.instruction;
  const bool there = wanted.starts_with(kLine)
                         ? wanted.substr(kLine.size()) == std::to_string(place.ptx.line)
                         : place.source.line > 0 && wanted.substr(kSource.size()) == source_text(place.source);
  const host::FaultInstruction* row = there ? host::fault_instruction(function) : nullptr;
  if (!row || !row->allows(f.action)) return false;
  const auto names = row->operand_names();
  return f.operand.empty() || std::find(names.begin(), names.end(), f.operand) != names.end();
}

bool by_place(const FaultSpec& f) {
  return f.instruction.starts_with("line ") || f.instruction.starts_with("source ");
}

}  // namespace

void faults_look_at(const Loc& loc) { next_place() = loc; }

bool FaultInterceptor::selects(const FaultSpec& f, const Warp& warp, std::string_view function,
                               const BarrierName& barrier, int id, const Loc& loc) const {
  const Cta& cta = warp.cta;
  return (by_place(f) ? stands_at(f, function) : f.instruction == function) &&
         (f.source.empty() || f.source == line_of(loc)) &&
         (f.role.empty() || f.role == cta.kernel().role(warp.index)) &&
         (f.barrier.empty() || (barrier.array && f.barrier == barrier.array->name)) &&
         (f.stage < 0 || (barrier.array && f.stage == barrier.stage)) && (f.id < 0 || f.id == id) &&
         (f.cta < 0 || f.cta == cta.grid_id()) && (f.launch < 0 || f.launch == cta.launch()) &&
         (f.warp < 0 || f.warp == warp.index);
}

bool FaultInterceptor::counts(size_t fault) {
  const FaultSpec& f = faults_[fault];
  const int64_t occurrence = matches_[fault]++;
  if (f.occurrence >= 0 ? f.occurrence != occurrence : occurrence < f.from) return false;
  ++altered_[fault];
  return true;
}

Alteration FaultInterceptor::match(const Warp& warp, std::string_view function, const Selection& selection) {
  Alteration alteration;
  const BarrierName name = barrier_name(warp.cta.kernel(), selection.has_barrier ? selection.barrier : last_wait_);
  for (size_t i = 0; i < faults_.size(); ++i)
    if (faults_[i].action != FaultAction::early &&
        selects(faults_[i], warp, function, name, selection.id, selection.loc) && counts(i)) {
      if (faults_[i].action == FaultAction::add && faults_[i].operand.empty())
        alteration.add(host::fault_instruction(function)->operands[0], faults_[i].value);
      else
        alteration.apply(faults_[i]);
    }
  return alteration;
}

Alteration FaultInterceptor::match_wait(const Warp& warp, const Selection& selection, uint32_t parity,
                                        bool given_up) {
  if (given_up && wait_.barrier == selection.barrier && wait_.parity == parity) {
    wait_.as.delay = 0, wait_.as.times = 1;
  } else {
    last_wait_ = selection.barrier;
    wait_ = {selection.barrier, parity, match(warp, "mbarrier_try_wait_parity", selection)};
  }
  return wait_.as;
}

FaultInterceptor::Release FaultInterceptor::early_release(const Warp& warp, uint32_t waited) {
  const BarrierName full = barrier_name(warp.cta.kernel(), waited);
  if (!full.array) return {};
  const std::string_view name = full.array->name;
  const bool clc = name == "clc_full";
  if (!clc && name != "accum_full") return {};
  const auto& arrays = warp.cta.kernel().barriers;
  const auto empty = std::find_if(arrays.begin(), arrays.end(), [&](const BarrierArray& array) {
    return std::string_view(array.name) == (clc ? "clc_empty" : "accum_empty");
  });
  if (empty == arrays.end()) return {};  // a kernel that never releases what it waits for
  const uint32_t offset = empty->base.offset() + 8u * uint32_t(full.stage);
  for (size_t i = 0; i < faults_.size(); ++i) {
    if (faults_[i].action != FaultAction::early ||
        !selects(faults_[i], warp, "mbarrier_arrive", {&*empty, full.stage}, -1, Loc{}) || !counts(i))
      continue;
    released_early_.push_back(offset);
    return {offset, clc};
  }
  return {};
}

bool FaultInterceptor::released_already(uint32_t barrier) {
  const auto at = std::find(released_early_.begin(), released_early_.end(), barrier);
  if (at == released_early_.end()) return false;
  released_early_.erase(at);
  return true;
}

}  // namespace sm100::sim
