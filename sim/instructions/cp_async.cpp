// SPDX-License-Identifier: Apache-2.0
// cp.async, not bulk, on the model (PTX 9.7.9.25.3): copies of threads from global to shared memory, their groups,
// and arrivals that follow them.  Approximated: the bytes move at once and count as landed an L2 hit later; what
// reads them earlier is the hazard checker's to find.
#include "kernels/isa/instructions/cp_async.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using models::now;
using sim::HazardChecker;
using sim::WarpContext;

void CpAsyncCgSharedGlobal::execute(WarpContext& w) const {
  constexpr uint32_t kBytes = 16;
  constexpr const char* kWhat = "cp.async";
  w.charge(w.issue.ld_shared);  // assumed as long as a load from shared memory
  w.settle();
  w.copies_done = std::max(w.copies_done, now() + w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns));
  if (!w.sm.with_data) return;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const SmemAddr to = (*dst)[lane][0];
    if (!w.in_shared(to, kBytes, kBytes, kWhat)) return;
    const uint8_t* from = w.global_bytes((*src)[lane][0], kBytes, lane, kWhat);
    if (!from) return;
    w.check_prerequisites((*src)[lane][0], kWhat);
    std::memcpy(w.own.smem.data(to.offset()), from, kBytes);
  }
  if (HazardChecker* h = w.hazards()) h->cp_async(w.thread(), w.footprint(*h, *dst, kWarpLanes, kBytes));
}

void CpAsyncCommitGroup::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_group);
  w.copy_groups.push_back(w.copies_done);
  if (HazardChecker* h = w.hazards()) h->cp_async_commit_group(w.thread());
}

void CpAsyncWaitGroup::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_group);
  w.settle();
  if (w.copy_groups.size() > size_t(pending)) {
    const Cycles done = w.copy_groups[w.copy_groups.size() - 1 - size_t(pending)];
    if (done > now()) w.warp.ahead += double(done - now());
    w.copy_groups.erase(w.copy_groups.begin(), w.copy_groups.end() - pending);
  }
  w.settle();
  if (HazardChecker* h = w.hazards()) h->cp_async_wait_group(w.thread(), pending);
}

void CpAsyncMbarrierArrive::execute(WarpContext& w) const {
  if (noinc) w.count_arrival(barrier);
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  if (!w.own_window(barrier, "cp.async.mbarrier.arrive")) return;
  models::Source by = w.source();
  const auto count = uint32_t(w.active_lanes());
  if (HazardChecker* h = w.hazards()) {
    h->uses_barrier(w.thread(), w.cluster_ctarank(), barrier.offset(), false);
    by.op = h->cp_async_arrive(w.thread());
  }
  if (!noinc) w.own.mbarrier.raise_pending(barrier.offset(), count, by);
  w.sm.cp_async.post(std::max(w.copies_done, now()), [&cta = w.cta, &own = w.own, id = w.cta.linear_id(),
                                                      offset = barrier.offset(), count, by] {
    if (cta.linear_id() == id && cta.resident()) return own.mbarrier.arrive(offset, count, by);
    cta.observer().violation({"MB12",
                              fmt::format("cp.async.mbarrier.arrive at {:#x} after its CTA has exited", offset),
                              now(), own.slot, offset, by});
  });
}

}  // namespace sm100::instructions
