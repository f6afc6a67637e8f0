// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/blame.h"

#include <fmt/format.h>

#include "sim/hang/names.h"
#include "sim/ptx/ptx_uses.h"
#include "sim/text.h"

namespace sm100::sim {

using models::Mbarrier;
using models::MbarrierEvent;
using models::MbarrierEventKind;

namespace {

/// Line where the warp delivers to the array: its own last one, else that of a warp of its role elsewhere.
Loc delivery_line(const WaitGraph& graph, const Debt& debt, const BarrierArray& array) {
  if (debt.loc.line() > 0) return debt.loc;
  const auto line = [&](const Warp& warp) {
    if (warp.use.empty()) return Loc{};
    const Warp::Use& use = use_of(warp, array);
    return debt.bytes > 0 ? use.copied : use.arrived;
  };
  if (const Loc own = line(debt.state()); own.line() > 0) return own;
  for (Cta* cta : graph.slots())
    for (const auto& warp : cta->warps())
      if (cta->kernel().role(warp->index) == debt.role())
        if (const Loc other = line(*warp); other.line() > 0) return other;
  return {};
}

/// Where the text of a PTX program has the delivery that no warp has made yet.
Loc written_delivery(const Debt& debt, const BarrierArray& array) {
  const PtxUses* uses = ptx_uses_of(debt.kernel());
  if (!uses) return {};
  const PtxUse* found = nullptr;
  for (const PtxUse* use : uses->of(array)) {
    if (!(use->warps >> debt.warp & 1) || !use->use.signals()) continue;
    if (!found || (debt.bytes > 0 && use->use.does == ptx::BarrierUse::Does::bytes)) found = use;
  }
  return found ? found->loc : Loc{};
}

/// Line of the role's stores to words of global memory.
Loc release_line(const WaitGraph& graph, const Debt& debt) {
  if (debt.state().released.line() > 0) return debt.state().released;
  for (Cta* cta : graph.slots())
    for (const auto& warp : cta->warps())
      if (&cta->kernel() == &debt.kernel() && cta->kernel().role(warp->index) == debt.role())
        if (warp->released.line() > 0) return warp->released;
  return {};
}

/// What a debtor does instead of delivering.
std::string doing(const WaitGraph& graph, const Debt& debt) {
  if (debt.exited()) return "has exited";
  const Wait* now = graph.of(debt);
  if (!now || now->blocked.on == Blocked::On::nothing) return "runs";
  return fmt::format("waits for {} at {}", waited_for(*now), line_of(now->blocked.loc));
}

}  // namespace

void blame(Cause& cause, const WaitGraph& graph, const Wait& wait, const std::vector<Debt>& debts) {
  if (debts.empty()) return;
  const Debt& first = debts.front();
  cause.fault_role = first.role();
  cause.fault_cta = first.cta;
  cause.fault_slot = first.slot;
  for (const Debt& d : debts)
    if (d.cta == first.cta && d.role() == first.role()) cause.fault_warps.push_back(d.warp);
  cause.fault_doing = doing(graph, first);
  if (wait.blocked.on == Blocked::On::global_word) cause.fault_loc = release_line(graph, first);
  if (!wait.on_mbarrier()) return;
  const BarrierArray& array = *wait.barrier.array;
  cause.fault_loc = delivery_line(graph, first, array);
  if (cause.fault_loc.line() == 0) cause.fault_loc = written_delivery(first, array);
  const BarrierArray* other = partner(wait.cta->kernel(), array);
  if (cause.fault_loc.line() > 0 || !other || first.exited()) return;
  cause.fault_loc = use_of(first.state(), *other).waited;
  cause.after_line = true;
}

void blame_arming(Cause& cause, const WaitGraph& graph, const Wait& w) {
  const uint64_t kept = std::min<uint64_t>(w.state->events, Mbarrier::State::kHistory);
  for (uint64_t i = w.state->events - kept; i < w.state->events; ++i) {
    const MbarrierEvent& e = w.state->history[i % Mbarrier::State::kHistory];
    if (e.phase != w.state->phase || e.kind != MbarrierEventKind::expect_tx || e.source.warp < 0) continue;
    blame_source(cause, graph, w, e.source);
  }
}

void blame_source(Cause& cause, const WaitGraph& graph, const Wait& w, const models::Source& by) {
  for (uint32_t r = 0; r < w.cta->cluster_ctas(); ++r)
    if (w.cta->peer_id(r) == by.cta)
      blame(cause, graph, w, {{.slot = peer_slot(graph.slots(), *w.cta, r), .cta = by.cta, .warp = by.warp}});
  cause.fault_loc = by.loc, cause.after_line = false;
}

void blame_init(Cause& cause, const WaitGraph& graph, const Wait& w) {
  const models::Source& by = w.state->init;
  if (by.warp < 0 || by.cta != w.cta->linear_id()) return;
  blame(cause, graph, w, {{.slot = w.cta, .cta = by.cta, .warp = by.warp}});
  cause.fault_loc = by.loc, cause.after_line = false, cause.fault_doing.clear();
}

std::string of_cta(const Wait& w, int cta) {
  return cta == w.cta->linear_id() && w.cta->cluster_ctas() == 1 ? "" : fmt::format(" of CTA {}", cta);
}

}  // namespace sm100::sim
