// SPDX-License-Identifier: Apache-2.0
// Copies under the hazard checker: those of threads (cp.async), of units (tensor and bulk copies, CLC responses),
// and the groups that threads wait for.
#include <algorithm>
#include <utility>

#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {

uint32_t HazardChecker::copies_component(const Thread& t, uint32_t lanes) {
  uint32_t& first = warp(t).copying_lanes;
  if (first == 0) first = lanes;
  return lanes == first ? component(rank(t.slot), t.by.warp, kCopies)
                        : lanes_component(rank(t.slot), t.by.warp, kCopies, lanes);
}
void HazardChecker::cp_async(const Thread& t, uint32_t lanes, Footprints::Id set) {
  if (postponed(t, [lanes, set](HazardChecker& h, const Thread& by) { h.cp_async(by, lanes, set); })) return;
  const Stamp over{copies_component(t, lanes), warp(t).copies.copy(lanes).number};
  touch_smem(t, rank(t.slot), set, access(t, AccessKind::cp_async, true, over));
}
void HazardChecker::cp_async_commit_group(const Thread& t, uint32_t lanes) {
  if (postponed(t, [lanes](HazardChecker& h, const Thread& by) { h.cp_async_commit_group(by, lanes); })) return;
  warp(t).copies.commit(lanes);
}
void HazardChecker::cp_async_wait_group(const Thread& t, uint32_t lanes, int pending) {
  if (postponed(
          t, [lanes, pending](HazardChecker& h, const Thread& by) { h.cp_async_wait_group(by, lanes, pending); }))
    return;
  warp(t).copies.wait(lanes, uint32_t(std::max(0, pending)), [&](CopyGroups::Upto upto) {
    warp(t).known.happened.advance({copies_component(t, upto.lanes), upto.number});
  });
}
uint32_t HazardChecker::cp_async_arrive(const Thread& t, uint32_t lanes) {
  if (postponed(t, [lanes](HazardChecker& h, const Thread& by) { h.cp_async_arrive(by, lanes); }))
    return ++cluster(t.slot).numbered;
  WarpState& self = warp(t);
  Knowledge& released = next_later(cluster(t.slot));
  released.clear();
  released.add_likely(self.known);
  released.happened = self.before_copies;
  self.copies.arrive(lanes, [&](CopyGroups::Upto upto) {
    released.happened.advance({copies_component(t, upto.lanes), upto.number});
  });
  constexpr size_t kRemembered = 8;
  if (!self.handed_by_copies.empty() && self.handed_by_copies.back().first == self.signalled)
    self.handed_by_copies.back().second = now(t).clock;
  else
    self.handed_by_copies.emplace_back(self.signalled, now(t).clock);
  if (self.handed_by_copies.size() > kRemembered) self.handed_by_copies.pop_front();
  step(t);
  return cluster(t.slot).later.last();
}

bool HazardChecker::handed_by_copies(const WarpState& by, const Access& store) {
  return store.kind == AccessKind::generic && store.write &&
         std::any_of(by.handed_by_copies.begin(), by.handed_by_copies.end(), [&](const auto& behind_upto) {
           return store.issued >= behind_upto.first && store.issued <= behind_upto.second;
         });
}

void HazardChecker::alloc_result(const Thread& t, Footprints::Id set) {
  if (postponed(t, [set](HazardChecker& h, const Thread& by) { h.alloc_result(by, set); })) return;
  cluster(t.slot).ctas[rank(t.slot)].allocated = now(t);
  touch_smem(t, rank(t.slot), set, access(t, AccessKind::alloc_result, true, now(t)));
}

void HazardChecker::send(const Thread& t, AccessKind kind, CtaMask ranks, uint32_t offset, uint32_t bytes,
                         uint32_t barrier, uint32_t op, bool linear, bool reduces) {
  const Footprints::Id set = smem_sets_.intern_range(offset, bytes);
  Access write = access(t, kind, true, {});
  write.op = op, write.barrier = barrier, write.linear = linear, write.reduces = reduces;
  const auto& in = clusters_[size_t(t.slot)];
  for (uint32_t r = 0; r < in->ctas.size(); ++r) {
    if (!(ranks.bits >> r & 1)) continue;
    touch_smem(t, r, set, write);
    flights_.of(op).push_back({in, r, set, write});
  }
}

void HazardChecker::tensor_load(const Thread& t, CtaMask ranks, uint32_t offset, uint32_t bytes, uint32_t barrier,
                                int to_leader, uint32_t op, bool linear) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) {
        h.tensor_load(by, ranks, offset, bytes, barrier, to_leader, op, linear);
      }))
    return;
  send(t, AccessKind::tensor_load, ranks, offset, bytes, barrier, op, linear);
  for (uint32_t r = 0; r < cluster(t.slot).ctas.size(); ++r) {
    if (!(ranks.bits >> r & 1)) continue;
    const uint32_t signalled = to_leader < 0 ? r : (r & ~1u) | uint32_t(to_leader);
    barrier_of(cluster(t.slot).ctas[signalled], barrier).in_flight.push_back(op);
  }
}

void HazardChecker::clc_request(const Thread& t, CtaMask ranks, uint32_t response, uint32_t barrier, uint32_t op) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) { h.clc_request(by, ranks, response, barrier, op); }))
    return;
  send(t, AccessKind::clc_response, ranks, response, uint32_t(sizeof(ClcResponse)), barrier, op);
}

HazardChecker::BulkGroups& HazardChecker::bulk_groups(const Thread& t) {
  std::vector<BulkGroups>& all = warp(t).bulk_groups;
  for (BulkGroups& groups : all)
    if (groups.lane == t.by.lane) return groups;
  const uint32_t of_lane = all.empty() ? component(rank(t.slot), t.by.warp, kGroups)
                                       : lanes_component(rank(t.slot), t.by.warp, kGroups, 1u << t.by.lane);
  return all.emplace_back(BulkGroups{.lane = t.by.lane, .component = of_lane});
}
Stamp HazardChecker::bulk_group(const Thread& t) {
  const BulkGroups& groups = bulk_groups(t);
  return {groups.component, groups.open};
}
void HazardChecker::tensor_store(const Thread& t, uint32_t offset, uint32_t bytes, bool linear, bool whole) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) { h.tensor_store(by, offset, bytes, linear, whole); }))
    return;
  Access read = access(t, AccessKind::tensor_store, false, bulk_group(t));
  read.linear = linear;
  const bool looks = std::exchange(looks_for_unwritten_, looks_for_unwritten_ && whole);
  touch_smem(t, rank(t.slot), smem_sets_.intern_range(offset, bytes), read);
  looks_for_unwritten_ = looks;
}
void HazardChecker::commit_group(const Thread& t, uint32_t lanes) {
  if (postponed(t, [lanes](HazardChecker& h, const Thread& by) { h.commit_group(by, lanes); })) return;
  for (BulkGroups& groups : warp(t).bulk_groups)
    if (lanes >> groups.lane & 1) ++groups.open;
}
void HazardChecker::wait_group(const Thread& t, uint32_t lanes, int pending, bool read_only) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) { h.wait_group(by, lanes, pending, read_only); }))
    return;
  WarpState& self = warp(t);
  if (pending == 0) self.groups_waited = now(t).clock, self.groups_waited_by = lanes;
  for (BulkGroups& groups : self.bulk_groups) {
    if (lanes >> groups.lane & 1)
      groups.left_pending = pending, groups.waited_at = groups.open, groups.waited = now(t);
    const int64_t done = int64_t(groups.open) - 1 - pending;
    if (!(lanes >> groups.lane & 1) || done <= 0) continue;
    self.known.happened.advance({groups.component, Clock(done)});
    if (!read_only && groups.visible != ~0u) self.known.happened.advance({groups.visible, Clock(done)});
  }
}

}  // namespace sm100::sim
