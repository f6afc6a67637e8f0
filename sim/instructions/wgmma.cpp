// SPDX-License-Identifier: Apache-2.0
// wgmma on the model: the warpgroup's matrix instruction of sm_90a (PTX, Asynchronous warpgroup level matrix
// instructions).
#include "kernels/isa/instructions/wgmma.h"

#include <algorithm>

#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using sim::Blocked;
using sim::HazardChecker;
using sim::WarpContext;

namespace {

double issue_cycles(const WarpContext& w, const WgmmaForm& form) {
  const auto& law = w.profile.wgmma;
  const double by_columns = double(form.n) / law.columns_per_issue_cycle - law.issue_less_cycles;
  return form.d == WgmmaD::s32 ? law.issue_min_cycles : std::max(double(law.issue_min_cycles), by_columns);
}

}  // namespace

void WgmmaFence::execute(WarpContext& w) const {
  w.charge(w.profile.wgmma.fence_cycles);
  w.wgmma_fenced = true;
}

void WgmmaMmaAsync::execute(WarpContext& w) const {
  w.settle();
  if (!w.profile.has_wgmma) {
    w.violate("not-implemented",
              "not implemented: wgmma on " + w.profile.name + ", which has none: it is of sm_90a (--profile h200)");
    return;
  }
  if (form.sparse && !metadata)
    return w.violate("not-implemented",
                     "not implemented: wgmma.mma_async.sp in role code; the unit has it, for PTX");
  if (!w.wgmma_fenced && w.warp.index % kWarpgroupWarps == 0)
    w.warn("WG3", "wgmma.mma_async without a wgmma.fence before the warp's first one: ptxas inserts it");
  w.wgmma_fenced = true;
  const models::WgmmaCommand command{form, a, a_registers, b, scale_d, d, metadata, w.source()};
  const uint32_t number = w.own.wgmma.mma(command, w.issue_cycle());
  if (number == 0) return;
  if (HazardChecker* h = w.hazards()) h->wgmma(w.thread(), command, number);
  w.charge(issue_cycles(w, form));
}

void WgmmaCommitGroup::execute(WarpContext& w) const {
  w.settle();
  w.hold_issue(w.own.wgmma.commit(w.warp.index));
}

void WgmmaWaitGroup::execute(WarpContext& w) const {
  w.wait_for_wgmma(w.own.wgmma.covered(w.warp.index, pending));
  w.charge(w.profile.wgmma.wait_cycles);
}

}  // namespace sm100::instructions

namespace sm100::sim {

void WarpContext::wait_for_wgmma(uint32_t number) {
  warp.begins_wait(loc_);
  settle();
  if (number == 0) return;
  const Blocked blocked{.on = Blocked::On::wgmma, .offset = number, .loc = loc_};
  std::optional<models::Cycles> done;
  while (!(done = own.wgmma.finished(warp.index, number, warp.waiter))) warp.suspend(blocked);
  warp.suspend_until(*done, blocked);
  own.wgmma.retire(warp.index, number);
  if (HazardChecker* h = hazards()) h->wgmma_wait(thread(), number);
}

}  // namespace sm100::sim
