// SPDX-License-Identifier: Apache-2.0
// cp.async, not bulk, on the model (PTX 9.7.9.25.3): copies of threads from global to shared memory, their groups,
// and arrivals that follow them.  Approximated: the bytes move at once and count as landed an L2 hit later; what
// reads them earlier is the hazard checker's to find.
#include "kernels/isa/instructions/cp_async.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/provenance.h"
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
  const Cycles landed = now() + w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns);
  for (int lane = 0; lane < kWarpLanes; ++lane)
    if (w.is_active(lane)) w.copies[size_t(lane)].landed = std::max(w.copies[size_t(lane)].landed, landed);
  if (!w.sm.with_data) return;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const SmemAddr to = (*dst)[lane][0];
    if (!w.in_shared(to, kBytes, kBytes, kWhat)) return;
    const uint8_t* from = w.global_bytes((*src)[lane][0], kBytes, lane, kWhat);
    if (!from) return;
    w.check_prerequisites((*src)[lane][0], kWhat);
    std::memcpy(w.own.smem.data(to.offset()), from, kBytes);
    if (models::Provenance* p = w.sm.provenance)
      p->copied_by_thread(w.own.slot, to.offset(), (*src)[lane][0].value, kBytes, w.source());
  }
  if (HazardChecker* h = w.hazards()) h->cp_async(w.thread(), w.lanes(), w.footprint(*h, *dst, kWarpLanes, kBytes));
}

void CpAsyncCommitGroup::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_group);
  for (int lane = 0; lane < kWarpLanes; ++lane)
    if (w.is_active(lane)) w.copies[size_t(lane)].groups.push_back(w.copies[size_t(lane)].landed);
  if (HazardChecker* h = w.hazards()) h->cp_async_commit_group(w.thread(), w.lanes());
}

void CpAsyncWaitGroup::execute(WarpContext& w) const {
  w.charge(w.issue.bulk_group);
  w.settle();
  Cycles done = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    std::vector<Cycles>& groups = w.copies[size_t(lane)].groups;
    if (!w.is_active(lane) || groups.size() <= size_t(pending)) continue;
    done = std::max(done, groups[groups.size() - 1 - size_t(pending)]);
    groups.erase(groups.begin(), groups.end() - pending);
  }
  w.hold_issue(done);
  w.settle();
  if (HazardChecker* h = w.hazards()) h->cp_async_wait_group(w.thread(), w.lanes(), pending);
}

void CpAsyncMbarrierArrive::execute(WarpContext& w) const {
  if (noinc) w.count_arrival(barrier);
  w.charge(w.issue.mbarrier_arrive);
  w.settle();
  if (!w.own_window(barrier, "cp.async.mbarrier.arrive")) return;
  models::Source by = w.source();
  if (HazardChecker* h = w.hazards()) {
    h->uses_barrier(w.thread(), w.cluster_ctarank(), barrier.offset(), false);
    by.op = h->cp_async_arrive(w.thread(), w.lanes());
  }
  if (!noinc) w.own.mbarrier.raise_pending(barrier.offset(), uint32_t(w.active_lanes()), by);
  const auto landed = [&](int lane) { return std::max(w.copies[size_t(lane)].landed, now()); };
  for (uint32_t left = w.lanes(); left != 0;) {
    const Cycles at = landed(std::countr_zero(left));
    uint32_t count = 0;  // of lanes whose copies land together
    for (int lane = 0; lane < kWarpLanes; ++lane)
      if ((left >> lane & 1) && landed(lane) == at) left &= ~(1u << lane), ++count;
    w.sm.cp_async.post(
        at, [&cta = w.cta, &own = w.own, id = w.cta.linear_id(), offset = barrier.offset(), count, by] {
          if (cta.linear_id() == id && cta.resident()) return own.mbarrier.arrive(offset, count, by);
          cta.observer().violation(
              {"MB12", fmt::format("cp.async.mbarrier.arrive at {:#x} after its CTA has exited", offset), now(),
               own.slot, offset, by});
        });
  }
}

}  // namespace sm100::instructions
