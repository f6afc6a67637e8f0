// SPDX-License-Identifier: Apache-2.0
// Accesses of a warp to the shared memory of other CTAs of its cluster: these have started before, and exit later.
#include <fmt/format.h>

#include <algorithm>

#include "models/time.h"
#include "sim/hazards/barriers_meant.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/text.h"

namespace sm100::sim {

void HazardChecker::copy_shared(const Thread& t, uint32_t from, uint32_t to_rank, uint32_t to, uint32_t bytes,
                                uint32_t barrier, uint32_t op, bool reduces) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) {
        h.copy_shared(by, from, to_rank, to, bytes, barrier, op, reduces);
      }))
    return;
  if (to_rank >= cluster(t.slot).ctas.size()) return;  // CR1 is the units' to report
  check_started(t, to_rank, "cp.async.bulk");
  uses_barrier(t, to_rank, barrier, true);
  // Over with a phase of a barrier, which is not known yet: until then with a stamp that nobody knows.
  Access read = access(t, AccessKind::bulk_source, false, {UINT32_MAX - op % 0x10000, kStillRunning});
  read.op = op, read.barrier = barrier, read.linear = true;
  const uint32_t own = rank(t.slot);
  const Footprints::Id source = smem_sets_.intern_range(from, bytes);
  touch_smem(t, own, source, read);
  flights_.of(op).push_back({clusters_[size_t(t.slot)], own, source, read});
  send(t, AccessKind::tensor_load, {uint16_t(1u << to_rank)}, to, bytes, barrier, op, true, reduces);
  barrier_of(cluster(t.slot).ctas[to_rank], barrier).in_flight.push_back(op);
}

void HazardChecker::store_async(const Thread& t, uint32_t to_rank, uint32_t offset, uint32_t bytes,
                                uint32_t barrier, uint32_t op, bool reduces) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) {
        h.store_async(by, to_rank, offset, bytes, barrier, op, reduces);
      }))
    return;
  if (to_rank >= cluster(t.slot).ctas.size()) return;
  async_stores_ = true;
  check_started(t, to_rank, "st.async");
  uses_barrier(t, to_rank, barrier, false);
  send(t, AccessKind::async_store, {uint16_t(1u << to_rank)}, offset, bytes, barrier, op, false, reduces);
  barrier_of(cluster(t.slot).ctas[to_rank], barrier).in_flight.push_back(op);
}

void HazardChecker::check_started(const Thread& t, uint32_t at_rank, const char* what) {
  if (postponed(t, [at_rank, what](HazardChecker& h, const Thread& by) { h.check_started(by, at_rank, what); }))
    return;
  Cluster& in = cluster(t.slot);
  if (at_rank == rank(t.slot) || at_rank >= in.ctas.size()) return;
  const Knowledge& known = warp(t).known;
  for (int w = 0; w < in.kernel->warps; ++w) {
    const Stamp start{component(at_rank, w, kWarp), 1};
    if (known.happened.knows(start) || known.likely.knows(start)) return;
  }
  models::Violation v{
      .id = "CR2",
      .message = fmt::format("{} in the shared memory of CTA rank {}, which may not have started", what, at_rank),
      .time = time(),
      .slot = t.slot,
      .source = t.by};
  v.details = {"missing: a cluster barrier, or a wait for an arrive of that CTA, before the first access"};
  report_.violation(v);
}

namespace {

/// Of what a component has done, the last.
template <class Item>
void keep_last(std::vector<Item>& all, const Item& item) {
  const auto same = [&](const Item& other) { return other.over.component == item.over.component; };
  const auto known = std::find_if(all.begin(), all.end(), same);
  if (known == all.end())
    all.push_back(item);
  else
    *known = item;
}

}  // namespace

void HazardChecker::note_remote(const Thread& t, uint32_t at_rank, const Access& accessed) {
  keep_last(cluster(t.slot).remote[at_rank], accessed);
}

void HazardChecker::note_remote_word(const Thread& t, uint32_t at_rank, uint32_t offset) {
  const RemoteWord stored{offset, access(t, AccessKind::generic, true, now(t))};
  for (RemoteWord& word : cluster(t.slot).remote_words[at_rank])
    if (word.offset == offset && word.store.over.component == stored.store.over.component)
      return void(word = stored);
  cluster(t.slot).remote_words[at_rank].push_back(stored);
}

void HazardChecker::commit_reaches(const Thread& t, uint32_t at_rank, uint32_t offset) {
  if (postponed(t,
                [at_rank, offset](HazardChecker& h, const Thread& by) { h.commit_reaches(by, at_rank, offset); }))
    return;
  if (at_rank >= cluster(t.slot).ctas.size() || at_rank == rank(t.slot)) return;
  for (const MmaThread& issuer : warp(t).mma)
    if (issuer.lane == t.by.lane)
      note_signal(t, at_rank, {{issuer.component, issuer.next - 1}, t.by, time(), offset, true});
}

void HazardChecker::note_signal(const Thread& t, uint32_t at_rank, const Signal& signal) {
  keep_last(cluster(t.slot).signals[at_rank], signal);
}

void HazardChecker::cta_exits(int slot, const models::Source& by) {
  if (!clusters_[size_t(slot)]) return;
  at_once(slot);
  check_signals(slot, by);
  check_fills(slot, by);
  const Cluster& in = cluster(slot);
  for (const RemoteWord& word : in.remote_words[rank(slot)])
    if (!word.seen && !knows(in.ctas[rank(slot)], word.store.over, true)) return report_exit(slot, by, word.store);
  for (const Access& access : in.remote[rank(slot)])
    if (!knows(in.ctas[rank(slot)], access.over, true)) return report_exit(slot, by, access);
}

void HazardChecker::report_exit(int slot, const models::Source& by, const Access& access) {
  const Kernel& kernel = *cluster(slot).kernel;
  models::Violation v{.id = "CR3",
                      .message = fmt::format(
                          "CTA rank {} of the cluster exits, and nothing orders the last {} of {} "
                          "(CTA {}) to its shared memory before",
                          rank(slot), access.write ? "store" : "load", kernel.role(access.by.warp), access.by.cta),
                      .time = time(),
                      .slot = slot,
                      .source = by};
  v.details = {
      fmt::format("access: by {} (warp {}) of CTA {} at cycle {}  {}", kernel.role(access.by.warp), access.by.warp,
                  access.by.cta, grouped(int64_t(access.cycle)), line_of(access.by.loc)),
      "missing: a cluster barrier, or an arrive of that warp and a wait of this CTA for it, before the exit"};
  v.places = {hazard_place(kernel, access)};
  report_.violation(v);
}

bool HazardChecker::knows(const CtaState& cta, Stamp over, bool likely) {
  return std::any_of(cta.warps.begin(), cta.warps.end(), [&](const WarpState& w) {
    return w.known.happened.knows(over) || (likely && w.known.likely.knows(over));
  });
}

void HazardChecker::check_signals(int slot, const models::Source& by) {
  const Cluster& in = cluster(slot);
  const CtaState& exiting = in.ctas[rank(slot)];
  for (const Signal& signal : in.signals[rank(slot)]) {
    if (knows(exiting, signal.over, true)) continue;
    // An arrival that releases nothing is known by its phase.
    const Stamp phase{barrier_component(rank(slot), barrier_index(signal.barrier)), signal.phase};
    if (signal.phase > 0 && knows(exiting, phase, false)) continue;
    return report_exit(slot, by, signal.commit ? "tcgen05.commit" : "mbarrier.arrive", signal.by, signal.cycle,
                       signal.barrier);
  }
}

void HazardChecker::note_fill(const models::MbarrierEvent& e, Barrier& barrier) {
  for (Barrier::Fill& fill : barrier.fills)
    if (fill.by.cta == e.source.cta) return void(fill = {e.source, Clock(e.phase + 1) + barrier.ended});
  barrier.fills.push_back({e.source, Clock(e.phase + 1) + barrier.ended});
}

void HazardChecker::check_fills(int slot, const models::Source& by) {
  const CtaState& exiting = cluster(slot).ctas[rank(slot)];
  for (size_t index = 0; index < exiting.barriers.size(); ++index)
    for (const Barrier::Fill& fill : exiting.barriers[index].fills) {
      if (fill.by.cta == by.cta || fill.by.cta < 0) continue;
      if (knows(exiting, {barrier_component(rank(slot), index), fill.phase}, true)) continue;
      const auto at = std::find(barrier_at_.begin(), barrier_at_.end(), uint32_t(index));
      return report_exit(slot, by, "copy", fill.by, 0, uint32_t(at - barrier_at_.begin()) * 8);
    }
}

void HazardChecker::report_exit(int slot, const models::Source& by, const char* what, const models::Source& other,
                                models::Cycles cycle, uint32_t offset) {
  const Kernel& kernel = *cluster(slot).kernel;
  const BarrierName name = barrier_name(kernel, offset);
  const std::string barrier = barrier_text(kernel, offset);
  const bool waits = name.array && name.array->waits && *name.array->waits;
  models::Violation v{
      .id = "CR3",
      .message = fmt::format(
          "CTA rank {} of the cluster exits, and nothing orders the last {} of {} (CTA {}) on its {} before",
          rank(slot), what, kernel.role(other.warp), other.cta, barrier),
      .time = time(),
      .slot = slot,
      .barrier = offset,
      .source = by};
  v.details = {
      fmt::format("{}: by {} (warp {}) of CTA {}{}  {}", what, kernel.role(other.warp), other.warp, other.cta,
                  cycle > 0 ? fmt::format(" at cycle {}", grouped(int64_t(cycle))) : std::string(),
                  line_of(other.loc)),
      fmt::format(
          "missing: {} CTA rank {} for that phase of {}, or a cluster barrier, before the exit; producers end "
          "with one more round of waits for their stages (producer_tail)",
          waits ? fmt::format("a wait by {} of", name.array->waits) : std::string("a wait of"), rank(slot),
          barrier)};
  report_.violation(v);
}

}  // namespace sm100::sim
