// SPDX-License-Identifier: Apache-2.0
// SimIsa's cp.async, not bulk (PTX 9.7.9.25.3): copies of threads from global to shared memory, their groups, and arrivals
// that follow them.  Approximated: the bytes move at once and count as landed an L2 hit later; what reads them earlier is the
// hazard checker's to find.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/sim_isa.h"

namespace sm100::sim {

using models::now;

void SimIsa::cp_async_cg_shared_global(const LaneArray<SmemAddr, 1>& dst, const LaneArray<GlobalAddr, 1>& src,
                                       Loc loc) {
  constexpr uint32_t kBytes = 16;
  constexpr const char* kWhat = "cp.async";
  charge(issue_.ld_shared);  // assumed as long as a load from shared memory
  settle(loc);
  copies_done_ = std::max(copies_done_, now() + profile_.cycles_of_ns(profile_.memory.l2_hit_ns));
  if (!sm_.with_data) return;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!is_active(lane)) continue;
    if (!in_shared(dst[lane][0], kBytes, kBytes, kWhat, loc)) return;
    const uint8_t* from = global_bytes(src[lane][0], kBytes, lane, kWhat, loc);
    if (!from) return;
    check_prerequisites(src[lane][0], kWhat, loc);
    std::memcpy(own_.smem.data(dst[lane][0].offset()), from, kBytes);
  }
  if (HazardChecker* h = hazards()) h->cp_async(thread(loc), footprint(*h, dst, kWarpLanes, kBytes));
}

void SimIsa::cp_async_commit_group(Loc loc) {
  charge(issue_.bulk_group);
  copy_groups_.push_back(copies_done_);
  if (HazardChecker* h = hazards()) h->cp_async_commit_group(thread(loc));
}

void SimIsa::wait_copies(int pending, Loc loc) {
  charge(issue_.bulk_group);
  settle(loc);
  if (copy_groups_.size() > size_t(pending)) {
    const models::Cycles done = copy_groups_[copy_groups_.size() - 1 - size_t(pending)];
    if (done > now()) warp_.ahead += double(done - now());
    copy_groups_.erase(copy_groups_.begin(), copy_groups_.end() - pending);
  }
  settle(loc);
  if (HazardChecker* h = hazards()) h->cp_async_wait_group(thread(loc), pending);
}

void SimIsa::copies_arrive(SmemAddr barrier, bool raise, Loc loc) {
  if (!raise) count_arrival(barrier, loc);
  charge(issue_.mbarrier_arrive);
  settle(loc);
  if (!own_window(barrier, "cp.async.mbarrier.arrive", loc)) return;
  models::Source by = source(loc);
  const auto count = uint32_t(active_lanes());
  if (HazardChecker* h = hazards()) {
    h->uses_barrier(thread(loc), cluster_ctarank(), barrier.offset(), false);
    by.op = h->cp_async_arrive(thread(loc));
  }
  if (raise) own_.mbarrier.raise_pending(barrier.offset(), count, by);
  sm_.cp_async.post(std::max(copies_done_, now()), [&cta = cta_, &own = own_, id = cta_.linear_id(),
                                                    offset = barrier.offset(), count, by] {
    if (cta.linear_id() == id && cta.resident()) return own.mbarrier.arrive(offset, count, by);
    cta.observer().violation({"MB12",
                              fmt::format("cp.async.mbarrier.arrive at {:#x} after its CTA has exited", offset),
                              now(), own.slot, offset, by});
  });
}

}  // namespace sm100::sim
