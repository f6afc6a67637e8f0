// SPDX-License-Identifier: Apache-2.0
// Barriers of CTA and cluster, fences, dependent launch, registers of PTX on the models (PTX 9.7.13, 9.7.19).
#include <bit>

#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::LaneMask;
using Together = PtxServiceEntry::Together;

namespace {

/// Without a count all threads of the CTA meet, whole warps of them.
int threads_of(const ServiceCall& c, size_t at) {
  if (c.size() > at) return int(c.value(at));
  return int(c.context().cta.kernel().warps) * ptx::kLanes;
}

PtxOutcome bar_sync(ServiceCall& c) {
  c.execute(BarSync{int(c.value(0)), threads_of(c, 1)});
  return kDone;
}
PtxOutcome bar_arrive(ServiceCall& c) {
  c.execute(BarArrive{int(c.value(0)), threads_of(c, 1)});
  return kDone;
}

/// bar.red.op d, a{, b}, {!}p: a bar.sync whose threads all get what they have said together.
PtxOutcome bar_red(ServiceCall& c) {
  const int id = int(c.value(1));
  const bool counts = c.size() > 3;
  models::CtaBarriers& barriers = c.context().own.barriers;
  const LaneMask yes = c.predicate(c.operand(c.size() - 1)) & c.lanes;
  const uint64_t generation = barriers.vote(id, {uint32_t(std::popcount(yes)), uint32_t(std::popcount(c.lanes))});
  c.execute(BarSync{id, counts ? int(c.value(2)) : threads_of(c, c.size())});
  if (c.warp.over()) return PtxOutcome::stop;
  const models::CtaBarriers::Votes votes = barriers.votes(id, generation);
  if (c.has(".popc"))
    c.set_all(c.operand(0), votes.yes);
  else
    c.set_predicate(c.operand(0), (c.has(".and") ? votes.yes == votes.asked : votes.yes > 0) ? ptx::kAllLanes : 0);
  return kDone;
}

PtxOutcome warp_sync(ServiceCall& c) {
  if (c.lanes == ptx::kAllLanes) c.execute(BarWarpSync{});
  return kDone;
}

PtxOutcome cluster_arrive(ServiceCall& c) {
  if (c.has(".relaxed"))
    c.execute(BarrierClusterArriveRelaxed{});
  else
    c.execute(BarrierClusterArrive{});
  return kDone;
}
PtxOutcome cluster_wait(ServiceCall& c) { return c.execute(BarrierClusterWait{}), kDone; }

/// Of all proxies' fences the model knows the one between generic and async accesses.
PtxOutcome fence_proxy_async(ServiceCall& c) { return c.execute(FenceProxyAsyncSharedCta{}), kDone; }

/// Order between generic accesses: what barriers hand on includes it, words of global memory hand on by their own
/// order or by fences around relaxed atomics.
PtxOutcome fence(ServiceCall& c) {
  c.context().at(c.loc, c.lanes);
  c.context().charge(c.context().issue.fence);
  const bool of_cta = c.has(".cta");
  if (const models::Cycles landed =
          of_cta ? 0 : c.context().cta.gpu().clusters().arrivals_landed(c.context().own.slot);
      landed > c.context().issue_cycle())
    c.context().hold_issue(landed);
  if (HazardChecker* const h = c.context().hazards())
    of_cta ? h->fence_cta(c.context().thread()) : h->fence_memory(c.context().thread());
  return kDone;
}

PtxOutcome griddep_wait(ServiceCall& c) { return c.execute(GriddepcontrolWait{}), kDone; }
PtxOutcome griddep_launch(ServiceCall& c) { return c.execute(GriddepcontrolLaunchDependents{}), kDone; }

PtxOutcome setmaxnreg(ServiceCall& c) {
  if (c.has(".inc"))
    c.execute(SetmaxnregInc{int(c.value(0))});
  else
    c.execute(SetmaxnregDec{int(c.value(0))});
  return kDone;
}

/// Time passes; nobody is told.
PtxOutcome nanosleep(ServiceCall& c) {
  c.context().at(c.loc, c.lanes);
  c.context().charge(double(c.context().profile.cycles_of_ns(double(c.value(0)))));
  c.context().settle();
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> synchronisation_services() {
  return {{"bar.sync", bar_sync, Together::all},
          {"bar.cta.sync", bar_sync, Together::all},
          {"barrier.sync", bar_sync, Together::all},
          {"barrier.cta.sync", bar_sync, Together::all},
          {"bar.arrive", bar_arrive, Together::all},
          {"bar.cta.arrive", bar_arrive, Together::all},
          {"barrier.arrive", bar_arrive, Together::all},
          {"barrier.cta.arrive", bar_arrive, Together::all},
          {"bar.red", bar_red, Together::all},
          {"bar.cta.red", bar_red, Together::all},
          {"barrier.red", bar_red, Together::all},
          {"barrier.cta.red", bar_red, Together::all},
          {"bar.warp.sync", warp_sync, Together::mask},
          {"barrier.cluster.arrive", cluster_arrive, Together::all},
          {"barrier.cluster.wait", cluster_wait, Together::all},
          {"fence.proxy.async", fence_proxy_async},
          {"fence.proxy.async::generic", fence_proxy_async},
          {"fence.proxy.alias", fence},
          {"fence.acq_rel", fence},
          {"fence.acquire", fence},
          {"fence.release", fence},
          {"fence.sc", fence},
          {"fence", fence},
          {"membar", fence},
          {"griddepcontrol.wait", griddep_wait},
          {"griddepcontrol.launch_dependents", griddep_launch},
          {"setmaxnreg", setmaxnreg, Together::all},
          {"nanosleep", nanosleep}};
}

}  // namespace sm100::sim
