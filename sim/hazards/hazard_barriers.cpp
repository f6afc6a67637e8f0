// SPDX-License-Identifier: Apache-2.0
// What mbarriers hand on: who has initialised one, arrivals into a phase, its completion.
#include "sim/hazards/hazard_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/time.h"
#include "sim/text.h"

namespace sm100::sim {

using models::MbarrierEventKind;

void HazardChecker::fence_mbarrier_init(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.fence_mbarrier_init(by); })) return;
  WarpState& self = warp(t);
  const Stamp fence{component(rank(t.slot), t.by.warp, kInits), ++self.init_fences};
  self.known.happened.advance(fence);
  for (Barrier* barrier : self.unfenced_inits) barrier->fenced = fence;
  self.unfenced_inits.clear();
}

void HazardChecker::uses_barrier(const Thread& t, uint32_t at_rank, uint32_t offset, bool by_unit) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) { h.uses_barrier(by, at_rank, offset, by_unit); }))
    return;
  if (by_unit) lanes_signal(t);
  if (at_rank >= cluster(t.slot).ctas.size()) return;
  Barrier& barrier = barrier_of(cluster(t.slot).ctas[at_rank], offset);
  if (!barrier.initialised) return;  // MB1 is the units' to report
  const Knowledge& known = warp(t).known;
  const bool init_fenced = known.happened.knows(barrier.fenced);
  const bool ordered = init_fenced || known.happened.knows(barrier.init);
  // Release and acquire order the init for threads, of other CTAs too; for units a fence is documented.
  if (ordered && (!by_unit || init_fenced || known.fenced.knows(barrier.init))) return;
  const bool likely = ordered || known.likely.knows(barrier.init);
  if (likely && std::exchange(barrier.warned, true)) return;
  models::Violation v{
      .id = "MB14", .message = {}, .time = time(), .slot = t.slot, .barrier = offset, .source = t.by};
  v.warning = likely;
  v.message =
      ordered ? fmt::format(
                    "an mbarrier is used by a unit, and neither fence.mbarrier_init nor fence.proxy.async "
                    "follows its init; works on hardware as far as known, because {}",
                    barrier.init.component == component(rank(t.slot), t.by.warp, kWarp)
                        ? "the warp itself has initialised it before"
                        : "a barrier lies between")
      : likely
          ? "an mbarrier is used, and no fence.mbarrier_init follows its init: what lies between hands on nothing "
            "else; works on hardware as far as known, because it comes after the init"
          : "an mbarrier is used, and nothing orders the use after its init";
  v.details.push_back(
      "missing: fence.mbarrier_init by the thread that initialises, then a barrier of all users (the "
      "cluster's, where other CTAs use it)");
  if (!ordered && likely)
    v.details.push_back(
        "between: a cluster barrier at which the initialising warp arrived .relaxed, or a tcgen05.commit");
  report_.violation(v);
}

void HazardChecker::arrives_from_another_cta(const Thread& t, uint32_t at_rank, uint32_t offset) {
  if (postponed(t, [at_rank, offset](HazardChecker& h, const Thread& by) {
        h.arrives_from_another_cta(by, at_rank, offset);
      }))
    return;
  if (at_rank >= cluster(t.slot).ctas.size()) return;
  barrier_of(cluster(t.slot).ctas[at_rank], offset).other_ctas = true;
  // A component of its own: what the arrival hands on need not be what the warp's other lanes have done.
  const Stamp over{component(rank(t.slot), t.by.warp, kSignals), ++warp(t).signals};
  warp(t).known.happened.advance(over);
  note_signal(t, at_rank, {over, t.by, time(), offset, false});
}

/// In few bytes, without what nobody asks for below.
void HazardChecker::postpone_event(const models::MbarrierEvent& e) {
  const models::Source& by = e.source;
  postpone_call(
      e.slot, [kind = e.kind, warp = by.warp, lane = by.lane, lands_on = by.lands_on, slot = e.slot, cta = by.cta,
               offset = e.offset, amount = e.amount, op = by.op, phase = e.phase, loc = by.loc](HazardChecker& h) {
        h.mbarrier_event(
            {.kind = kind,
             .time = h.time(),
             .slot = slot,
             .offset = offset,
             .phase = phase,
             .amount = amount,
             .source = {.warp = warp, .lane = lane, .loc = loc, .cta = cta, .op = op, .lands_on = lands_on}});
      });
}

void HazardChecker::mbarrier_event(const models::MbarrierEvent& e) {
  if (!clusters_[size_t(e.slot)]) return;
  // Of tensor maps in global memory other clusters have to know now.
  if (postpones_ && !catching_up_ && map_loads_.empty()) return postpone_event(e);
  at_once(e.slot);
  Cluster& in = cluster(e.slot);
  const uint32_t r = rank(e.slot);
  const size_t index = barrier_index(e.offset);
  Barrier& barrier = barrier_of(in.ctas[r], e.offset);
  switch (e.kind) {
    case MbarrierEventKind::init: {
      const Thread thread{e.slot, e.source};
      if (barrier.initialised) {  // another one was here, until its inval
        barrier.ended = barrier.completed.happened.of(barrier_component(r, index));
        barrier.arrived.clear(), barrier.completed.clear(), barrier.before.clear(), barrier.in_flight.clear();
      }
      barrier.initialised = true;
      barrier.init = now(thread);
      warp(thread).unfenced_inits.push_back(&barrier);
      break;
    }
    case MbarrierEventKind::arrive:
    case MbarrierEventKind::expect_tx:
      if (e.kind == MbarrierEventKind::expect_tx) barrier.expected += e.amount, barrier.expects = e.source;
      for (Signal& signal : in.signals[r])
        if (!signal.commit && signal.by.cta == e.source.cta && signal.by.warp == e.source.warp &&
            signal.barrier == e.offset)
          signal.phase = Clock(e.phase + 1) + barrier.ended;
      if (e.source.op == kReleases) {
        const Thread thread{e.slot, e.source};
        barrier.arrived.join(warp(thread).known);
        step(thread);
      } else if (e.source.op != 0) {
        barrier.arrived.join(in.later.landed(e.source.op, e.time));
      }
      break;
    case MbarrierEventKind::complete_tx: {
      barrier.counts_bytes = true;
      barrier.came += e.amount;
      note_fill(e, barrier);
      if (const auto one = std::find(barrier.in_flight.begin(), barrier.in_flight.end(), e.source.op);
          one != barrier.in_flight.end())
        barrier.in_flight.erase(one);
      if (!map_loads_.empty())
        map_load_landed(e.source.op, {barrier_component(r, index), Clock(e.phase + 1)}, e.phase);
      std::vector<Flight>* const flight = flights_.find(e.source.op);
      if (!flight) break;
      const int lands_on = e.source.lands_on >= 0 ? e.source.lands_on : e.slot;
      const Stamp over{barrier_component(r, index), Clock(e.phase + 1) + barrier.ended};
      std::erase_if(*flight, [&](const Flight& f) {
        if (!f.write.write) {
          f.cluster->ctas[f.rank].smem.read_landed(f.set, e.source.op, over, e.phase);
          return true;
        }
        if (f.cluster->slots[f.rank] != lands_on) return false;
        f.cluster->ctas[f.rank].smem.landed(f.set, e.source.op, over, e.phase);
        return true;
      });
      break;
    }
    case MbarrierEventKind::phase_complete:
      check_complete(e, barrier);
      barrier.expected = barrier.came = 0;
      barrier.arrived.happened.advance({barrier_component(r, index), Clock(e.phase + 1) + barrier.ended});
      std::swap(barrier.before, barrier.completed.happened);
      barrier.completed = barrier.arrived;
      if (barrier.lane_waits > 0) check_lanes(e, barrier);
      break;
  }
}

/// A copy that signals the barrier has been issued after the barrier's stage came back and lands in the open phase:
/// none may be on its way when that phase completes.
void HazardChecker::check_complete(const models::MbarrierEvent& e, const Barrier& barrier) {
  if (barrier.in_flight.empty()) return;
  const std::vector<Flight>* flight = flights_.find(barrier.in_flight.front());
  if (!flight) return;
  const Access& copy = flight->front().write;
  const BarrierName name = barrier_name(kernel(e.slot), e.offset);
  models::Violation v{.id = "MB11",
                      .message = fmt::format(
                          "{} completes phase {} while {} that signal{} it {} on the way: expect_tx "
                          "counts too few bytes",
                          name.array ? fmt::format("{}[{}]", name.array->name, name.stage)
                                     : fmt::format("the mbarrier at {:#x}", e.offset),
                          e.phase,
                          barrier.in_flight.size() == 1 ? std::string("a copy")
                                                        : fmt::format("{} copies", barrier.in_flight.size()),
                          barrier.in_flight.size() == 1 ? "s" : "", barrier.in_flight.size() == 1 ? "is" : "are"),
                      .time = e.time,
                      .slot = e.slot,
                      .barrier = e.offset,
                      .source = copy.by.source()};
  v.details = hazard_copy_lines(kernel(e.slot), copy);
  uint64_t here = 0, in_cluster = 0;  // of a pair's, the leader's barrier counts the peer's too
  for (const uint32_t op : barrier.in_flight)
    if (const std::vector<Flight>* const all = flights_.find(op))
      for (const Flight& f : *all) {
        in_cluster += smem_sets_.bytes(f.set);
        if (f.cluster->slots[f.rank] == e.slot) here += smem_sets_.bytes(f.set);
      }
  const uint64_t on_the_way = here > 0 ? here : in_cluster;
  // Another stage lacks exactly these: they signal the wrong one's barrier.
  for (int s = 0; name.array && s < name.array->stages; ++s) {
    if (s == name.stage) continue;
    const Barrier& other = barrier_of(cta(e.slot), name.array->base.offset() + 8u * uint32_t(s));
    uint64_t coming = other.came;
    for (const uint32_t op : other.in_flight)
      if (const std::vector<Flight>* const all = flights_.find(op))
        for (const Flight& f : *all) coming += f.cluster->slots[f.rank] == e.slot ? smem_sets_.bytes(f.set) : 0;
    if (other.expected == 0 || other.expected != coming + here) continue;
    v.message += fmt::format(
        "; or the copy is another stage's and signals the wrong barrier: {}[{}] is armed for {} "
        "bytes, and lacks the {} of this one",
        name.array->name, s, grouped(int64_t(other.expected)), grouped(int64_t(here)));
    break;
  }
  if (barrier.expected > 0)
    v.details.insert(v.details.end() - 1,
                     expected_bytes_line(kernel(e.slot), barrier.expects, barrier.expected, on_the_way));
  report_.violation(v);
}

}  // namespace sm100::sim
