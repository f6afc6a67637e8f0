// SPDX-License-Identifier: Apache-2.0
// Named barriers, the cluster barrier, the proxy fence and dependent launch on the model.
#include "kernels/isa/instructions/barriers.h"

#include <fmt/format.h>

#include <bit>

#include "sim/warp_context.h"

namespace sm100::instructions {

using sim::Blocked;
using sim::HazardChecker;
using sim::WarpContext;

uint32_t ElectSync::execute(WarpContext& w) const {
  w.charge_private(w.issue.elect);
  return w.lanes() & -w.lanes();
}

void BarWarpSync::execute(WarpContext& w) const { w.charge_private(w.issue.warp_sync); }

// ---- named barriers

namespace {

/// The kernel's table of named barriers lists the warp's role at this one (NB5).
bool meets_at(WarpContext& w, int id, const char* instruction) {
  const sim::Kernel& kernel = w.cta.kernel();
  const NamedBarrier* row = named_barrier(kernel, id);
  if (kernel.named_barriers.empty() || id < 0 || id > 15 ||
      (row && sim::lists(row->roles, kernel.role(w.warp.index))))
    return true;
  w.violate("NB5",
            row ? fmt::format("{} on named barrier {} ({}): the kernel's table lists {} there", instruction, id,
                              row->name, row->roles)
                : fmt::format("{} on named barrier {}, which the kernel's table does not have", instruction, id));
  return false;
}

/// @return the generation is complete
bool arrive(WarpContext& w, int id, int threads, models::Waiter* waiter) {
  HazardChecker* h = w.hazards();
  if (h) h->bar_arrive(w.thread(), id);
  const bool complete = w.own.barriers.arrive(id, uint32_t(threads), waiter, w.source());
  if (h && complete) h->bar_complete(w.thread(), id);
  return complete;
}

}  // namespace

void BarSync::execute(WarpContext& w) const {
  w.warp.begins_wait(w.loc());
  w.charge(w.issue.bar_sync);
  w.settle();
  if (!meets_at(w, id, "bar.sync")) return;
  if (!arrive(w, id, threads, &w.warp.waiter))
    w.warp.suspend({.on = Blocked::On::named_barrier, .offset = uint32_t(id), .loc = w.loc()});
  if (HazardChecker* h = w.hazards()) h->bar_pass(w.thread(), id);
}

void BarArrive::execute(WarpContext& w) const {
  w.charge(w.issue.bar_sync);
  w.settle();
  if (meets_at(w, id, "bar.arrive")) arrive(w, id, threads, nullptr);
}

// ---- cluster barrier

namespace {

/// The lanes of a warp may come one after the other.  What the warp knows is taken to be handed on by its last
/// lane.
void cluster_arrive(WarpContext& w, bool release) {
  w.charge(w.issue.bar_sync);
  w.settle();
  if (w.cluster_lanes & w.lanes()) return w.violate("CB1", "barrier.cluster.arrive twice by a lane in one phase");
  w.cluster_release = (w.cluster_lanes == 0 || w.cluster_release) && release;
  w.cluster_lanes |= w.lanes();
  if (w.cluster_lanes != sim::kAllLanes) return;
  w.cluster_lanes = 0, w.cluster_waits = sim::kAllLanes;
  w.warp.cluster_phase = int64_t(w.cta.gpu().clusters().barrier_arrive(w.own.slot, w.warp.index, w.source()));
  if (HazardChecker* h = w.hazards())
    h->cluster_arrive(w.thread(), uint64_t(w.warp.cluster_phase), w.cluster_release);
}

}  // namespace

void BarrierClusterArrive::execute(WarpContext& w) const { cluster_arrive(w, true); }
void BarrierClusterArriveRelaxed::execute(WarpContext& w) const { cluster_arrive(w, false); }

/// Not .aligned either: each lane waits for the phase that it has arrived in, one after the other.
void BarrierClusterWait::execute(WarpContext& w) const {
  w.warp.begins_wait(w.loc());
  w.charge(w.issue.bar_sync);
  w.settle();
  if (const uint32_t early = w.lanes() & ~(w.cluster_waits | w.cluster_lanes); early != 0)
    return w.violate("CB2",
                     w.cluster_lanes == 0
                         ? std::string("barrier.cluster.wait without barrier.cluster.arrive before it")
                         : fmt::format("barrier.cluster.wait by {} lanes without barrier.cluster.arrive before it",
                                       std::popcount(early)));
  if ((w.lanes() & w.cluster_lanes) != 0)
    return w.violate(
        "not-implemented",
        "not implemented: barrier.cluster.wait by lanes whose warp has others that have not arrived: the "
        "branches of a warp run one after the other here");
  w.cluster_waits &= ~w.lanes();
  const int64_t phase = w.warp.cluster_phase;
  if (w.cluster_waits == 0) w.warp.cluster_phase = -1;
  if (!w.cta.gpu().clusters().barrier_wait(w.own.slot, uint64_t(phase), w.warp.waiter))
    w.warp.suspend({.on = Blocked::On::cluster_barrier, .loc = w.loc()});
  if (HazardChecker* h = w.hazards()) h->cluster_pass(w.thread(), uint64_t(phase));
}

void FenceProxyAsyncSharedCta::execute(WarpContext& w) const {
  w.charge(w.issue.fence);
  if (HazardChecker* h = w.hazards()) h->fence_proxy_async(w.thread());
}

// ---- programmatic dependent launch

void GriddepcontrolWait::execute(WarpContext& w) const {
  w.charge(w.issue.control);
  const auto complete = [&] {
    if (HazardChecker* h = w.hazards()) h->prerequisites_complete(w.thread());
  };
  if (!w.cta.gpu().has_prerequisites(w.cta.launch())) {
    if (w.cta.observer().launch_ahead()) complete();
    return;
  }
  w.settle();
  w.warp.begins_wait(w.loc());
  if (w.cta.gpu().prerequisites_complete(w.cta.launch())) return complete();
  const models::Cycles begin = models::now();
  w.cta.gpu().wait_prerequisites(w.cta.launch(), w.warp.waiter);
  w.warp.suspend({.on = Blocked::On::prerequisite_grids, .loc = w.loc()});
  complete();
  // Roles have no trace point here: alone in the stream the instruction never waits.
  if (traces::Recorder* recorder = w.cta.observer().recorder())
    recorder->span({.begin = begin,
                    .end = models::now(),
                    .track = w.warp.track,
                    .kind = traces::SpanKind::wait,
                    .args = {.pipeline = recorder->intern("griddepcontrol")}});
}

void GriddepcontrolLaunchDependents::execute(WarpContext& w) const {
  w.charge(w.issue.control);
  if (!w.cta.gpu().has_dependents(w.cta.launch())) return;
  w.settle();
  w.cta.gpu().launch_dependents(w.own);
}

}  // namespace sm100::instructions
