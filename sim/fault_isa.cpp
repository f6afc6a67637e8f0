// SPDX-License-Identifier: Apache-2.0
#include "sim/fault_isa.h"

#include <algorithm>
#include <string_view>

namespace sm100::sim {

using host::FaultSpec;

bool FaultIsa::selects(const FaultSpec& f, std::string_view instruction, const BarrierName& barrier, int id) {
  return f.instruction == instruction && (f.role.empty() || f.role == cta().kernel().role(warp().index)) &&
         (f.barrier.empty() || (barrier.array && f.barrier == barrier.array->name)) &&
         (f.stage < 0 || (barrier.array && f.stage == barrier.stage)) && (f.id < 0 || f.id == id) &&
         (f.cta < 0 || f.cta == cta().grid_id()) && (f.launch < 0 || f.launch == cta().launch()) &&
         (f.warp < 0 || f.warp == warp().index);
}

bool FaultIsa::counts(size_t fault) {
  const FaultSpec& f = faults_[fault];
  const int64_t occurrence = matches_[fault]++;
  if (f.occurrence >= 0 ? f.occurrence != occurrence : occurrence < f.from) return false;
  ++altered_[fault];
  return true;
}

Alteration FaultIsa::match(FaultableInstruction instruction, uint32_t barrier, int id) {
  Alteration alteration;
  const BarrierName name = barrier_name(cta().kernel(), barrier);
  for (size_t i = 0; i < faults_.size(); ++i)
    if (faults_[i].action != FaultAction::early && selects(faults_[i], instruction.name, name, id) && counts(i))
      alteration.apply(faults_[i]);
  return alteration;
}

// ---- early: clc_empty and accum_empty are released by all lanes of the warps that waited for clc_full and accum_full

void FaultIsa::release_early(SmemAddr waited, Loc loc) {
  const BarrierName full = barrier_name(cta().kernel(), waited.offset());
  if (!full.array) return;
  const std::string_view name = full.array->name;
  const bool clc = name == "clc_full";
  if (!clc && name != "accum_full") return;
  const auto& arrays = cta().kernel().barriers;
  const auto empty = std::find_if(arrays.begin(), arrays.end(), [&](const BarrierArray& array) {
    return std::string_view(array.name) == (clc ? "clc_empty" : "accum_empty");
  });
  if (empty == arrays.end()) return;  // a kernel that never releases what it waits for
  const uint32_t offset = empty->base.offset() + 8u * uint32_t(full.stage);
  for (size_t i = 0; i < faults_.size(); ++i) {
    if (faults_[i].action != FaultAction::early ||
        !selects(faults_[i], "mbarrier_arrive", {&*empty, full.stage}, -1) || !counts(i))
      continue;
    const uint32_t own = cluster_ctarank(), leader = cta().tcgen05_group == 2 ? own & ~1u : own;
    const ClusterSmemAddr release{(clc ? 0 : leader) << kClusterRankShift | offset};
    if (!clc && leader == own)
      SimIsa::mbarrier_arrive(SmemAddr{release.value}, Scope::cta, loc);
    else
      SimIsa::mbarrier_arrive(release, Scope::cta, loc);
    released_early_.push_back(offset);
    return;
  }
}

bool FaultIsa::released_already(uint32_t barrier) {
  const auto at = std::find(released_early_.begin(), released_early_.end(), barrier);
  if (at == released_early_.end()) return false;
  released_early_.erase(at);
  return true;
}

}  // namespace sm100::sim
