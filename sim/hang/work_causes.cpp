// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/work_causes.h"

#include <algorithm>

#include "sim/hang/blame.h"
#include "sim/role_work.h"

namespace sm100::sim {

Cause work_cause(const WaitGraph& graph, const Wait& w) {
  if (!w.on_mbarrier()) return {};
  const auto d = work_difference(*w.cta, false);
  if (!d) return {};
  const std::string& role = w.cta->kernel().role(d->warp->index);
  const bool owes = std::any_of(w.debts.all.begin(), w.debts.all.end(),
                                [&](const Debt& debt) { return debt.slot == w.cta && debt.role() == role; });
  if (!owes && w.role != role && !lists(w.barrier.array->arrives, role)) return {};
  Cause cause{.certainty = owes ? 88 : 87, .text = d->text};
  std::vector<Debt> debts;
  for (const auto& warp : w.cta->warps())
    if (w.cta->kernel().role(warp->index) == role)
      debts.push_back({.slot = w.cta, .cta = w.cta->linear_id(), .warp = warp->index});
  blame(cause, graph, w, debts);
  if (d->tile.loc.line() > 0 && d->warp->steps.fills + d->warp->steps.consumes > 0)
    cause.fault_loc = d->tile.loc, cause.after_line = false;
  return cause;
}

}  // namespace sm100::sim
