// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/cycle_causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/hang/blame.h"
#include "sim/hang/names.h"

namespace sm100::sim {

namespace {

std::string cycle_text(const WaitGraph& graph, const std::vector<size_t>& cycle) {
  std::string text;
  const auto name = [&](const Wait& w) {
    const bool one_cta = std::all_of(cycle.begin(), cycle.end(), [&](size_t i) {
      return graph.waits()[i].cta == graph.waits()[cycle.front()].cta;
    });
    const bool alone = std::none_of(cycle.begin(), cycle.end(), [&](size_t i) {
      const Wait& other = graph.waits()[i];
      return &other != &w && other.role == w.role && other.cta == w.cta;
    });
    const std::string role = alone ? w.role : warps_text(w.role, w.warps);
    return w.cta->cluster_ctas() > 1 || !one_cta ? fmt::format("{} of CTA {}", role, w.cta->linear_id()) : role;
  };
  for (size_t i : cycle) {
    const Wait& w = graph.waits()[i];
    text += fmt::format("{} -> {} -> ", name(w), w.cta->describe(w.blocked, true));
  }
  return text + name(graph.waits()[cycle.front()]);
}

/// Of a cycle with one named barrier in it, where `w` waits and has done nothing yet of what the others wait for:
/// the warp that the barrier misses should have come before it waits for what follows from the barrier.
Cause barrier_in_cycle_cause(const WaitGraph& graph, const Wait& w, const std::vector<size_t>& cycle) {
  const auto named = std::count_if(cycle.begin(), cycle.end(), [&](size_t i) {
    return graph.waits()[i].blocked.on == Blocked::On::named_barrier;
  });
  if (w.blocked.on != Blocked::On::named_barrier || named != 1 || !w.debts.certain || cycle.size() < 2) return {};
  const Wait& late = graph.waits()[cycle[1]];
  const Wait& owed = graph.waits()[cycle.back()];  // by the warps of `w`
  const bool at_its_start = owed.on_mbarrier() && std::all_of(w.warps.begin(), w.warps.end(), [&](int warp) {
                              return use_of(*w.cta->warps()[size_t(warp)], *owed.barrier.array).arrivals == 0;
                            });
  if (!at_its_start) return {};
  const std::string who = late.role == w.role ? warps_text(late.role, late.warps) : late.role;
  Cause cause{
      .certainty = 51,
      .text = fmt::format("{}{} has not arrived on {}: its arrival is missing, or comes behind its wait for "
                          "{}, which needs the barrier first",
                          who, of_cta(w, late.cta->linear_id()), w.cta->describe(w.blocked, true),
                          late.cta->describe(late.blocked, true))};
  std::vector<Debt> in_cycle;
  for (const Debt& d : w.debts.all)
    if (graph.of(d) == &late) in_cycle.push_back(d);
  blame(cause, graph, w, in_cycle);
  return cause;
}

/// Deliveries to the array that come before the one to this stage and phase.
int64_t turn_of(const Wait& w) { return w.state->phase * w.barrier.array->stages + w.barrier.stage; }

/// Those of the next wait in the cycle who owe what `w` misses.
std::vector<Debt> debtors_in(const WaitGraph& graph, const Wait& w, const Wait& next) {
  std::vector<Debt> debtors;
  for (const Debt& d : w.debts.all)
    if (graph.of(d) == &next) debtors.push_back(d);
  return debtors;
}

/// A ring's debts follow from its other side, which the debtor waits for.
bool is_ring_of(const Wait& w, const Debt& debt) {
  const BarrierArray* other = partner(w.cta->kernel(), *w.barrier.array);
  return other && lists(other->waits, debt.role());
}

/// Both work through what `rounds` brings, round by round, and the debtor asks for a later round than `w` is in.
bool is_a_round_ahead(const Wait& w, const Debt& debt, const BarrierArray& rounds) {
  const int passed = use_of(debt.state(), rounds).waits;
  return w.cta == debt.slot && lists(rounds.waits, w.role) && passed > 0 &&
         passed >= use_of(w.warp(), rounds).waits;
}

/// Whoever else arrives on the barrier brings a result with each of these arrivals, for which the debtor waits, and
/// it has waited for the one of this turn.
bool has_the_result(const WaitGraph& graph, const Wait& w, const Debt& debt, const BarrierArray& results) {
  if (use_of(debt.state(), results).waits <= turn_of(w)) return false;
  for (uint32_t rank = 0; rank < w.cta->cluster_ctas(); ++rank)
    for (const auto& warp : peer_slot(graph.slots(), *w.cta, rank)->warps()) {
      if (&warp->cta.kernel() != &w.cta->kernel() || warp->cta.kernel().role(warp->index) == debt.role()) continue;
      const int here = use_of(*warp, *w.barrier.array).arrivals, there = use_of(*warp, results).arrivals;
      if (here > 0 && std::abs(here - there) <= 1) return true;
    }
  return false;
}

/// Of a cycle of mbarriers: the next one in it has gone on to another round, and owes what it should have delivered
/// in the one before.
Cause late_arrival_cause(const WaitGraph& graph, const Wait& w, const std::vector<size_t>& cycle) {
  if (cycle.size() < 2 || !w.on_mbarrier() || !w.debts.certain) return {};
  const Wait& next = graph.waits()[cycle[1]];
  if (!next.on_mbarrier() || next.barrier.array == w.barrier.array) return {};
  const std::vector<Debt> late = debtors_in(graph, w, next);
  if (late.empty()) return {};
  const Debt& first = late.front();
  const BarrierArray& rounds = *next.barrier.array;
  const bool owes =
      (!is_ring_of(w, first) && is_a_round_ahead(w, first, rounds)) || has_the_result(graph, w, first, rounds);
  if (!owes) return {};
  Cause cause{.certainty = 52};
  cause.text = fmt::format(
      "{}{} has gone on to its next wait for {} without its {} on {}{}: the arrival is missing, or comes behind "
      "that "
      "wait, which needs it first",
      first.role(), of_cta(w, first.cta), rounds.name, arrival_of(*w.barrier.array, first.role()),
      text_of(w.barrier), of_cta(w, w.cta->linear_id()));
  blame(cause, graph, w, late);
  return cause;
}

}  // namespace

Cause cycle_cause(const WaitGraph& graph, const Wait& w) {
  const std::vector<size_t> cycle = graph.cycle_through(graph.index(w));
  if (cycle.empty()) return {};
  if (const Cause c = late_arrival_cause(graph, w, cycle); c.certainty > 0) return c;
  if (const Cause c = barrier_in_cycle_cause(graph, w, cycle); c.certainty > 0) return c;
  // Many may wait at a cluster barrier for what is only seen elsewhere in the cycle.
  Cause c{.certainty = w.blocked.on == Blocked::On::cluster_barrier ? 49 : 50,
          .text = (cycle.size() == 1 ? "it waits for itself: " : "these wait for each other: ") +
                  cycle_text(graph, cycle)};
  blame(c, graph, w, w.debts.all);
  return c;
}

}  // namespace sm100::sim
