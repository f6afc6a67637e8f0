// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/cycle_causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/hang/blame.h"
#include "sim/hang/names.h"
#include "sim/hang/step_causes.h"
#include "sim/text.h"

namespace sm100::sim {

using models::Mbarrier;

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

/// The tile of the CTA for which a warp has made its fill number `n` of the ring that it waits for; nullptr: its
/// trace points do not say, or are about another ring.
const TileWork* tile_of_fill(const Warp& warp, int cta, int64_t n) {
  const bool steps_here = std::any_of(warp.tiles.begin(), warp.tiles.end(), [&](const TileWork& tile) {
    return tile.cta == cta && tile.steps > 0 && tile.loc.line() == warp.blocked.loc.line();
  });
  if (!steps_here) return nullptr;
  for (const TileWork& tile : warp.tiles) {
    if (tile.cta != cta) continue;
    if (n < tile.steps) return &tile;
    n -= tile.steps;
  }
  return nullptr;
}

bool has_begun(const Warp& warp, const TileWork& tile) {
  return std::any_of(warp.tiles.begin(), warp.tiles.end(),
                     [&](const TileWork& t) { return t.cta == tile.cta && t.same_place(tile); });
}

constexpr int kAheadOfLateArrivals = 52;

/// The stage that `w` wants back has got its bytes, and nobody has armed the barrier that says so.
Cause unarmed_fill_cause(const WaitGraph& graph, const Wait& w, const BarrierArray& full,
                         const Mbarrier::State& filled) {
  const MbarrierState word = decode_mbarrier(filled.word);
  if (filled.phase != w.state->phase || word.pending == 0 || word.tx >= 0 || !lists(full.arrives, w.role))
    return {};
  Cause cause{.certainty = 54};
  cause.text = fmt::format(
      "{} bytes were delivered to {}[{}] in a phase that nobody armed: the {} of {}{} is missing",
      grouped(-word.tx), full.name, w.barrier.stage, full.arrives_with, w.role, of_cta(w, w.cta->linear_id()));
  blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
  cause.fault_loc = use_of(w.warp(), full).copied, cause.after_line = false;
  return cause;
}

/// Of a cycle of mbarriers: the stage that `w` wants back is full, and the next one in the cycle, who should empty
/// it, has gone on to another round, or has never looked at the ring.
Cause left_full_cause(const WaitGraph& graph, const Wait& w, const std::vector<size_t>& cycle) {
  if (cycle.size() < 2 || !w.on_mbarrier() || !w.debts.certain) return {};
  const Wait& next = graph.waits()[cycle[1]];
  const BarrierArray* full = partner(w.cta->kernel(), *w.barrier.array);
  if (!next.on_mbarrier() || !full || next.barrier.array == full || next.barrier.array == w.barrier.array ||
      !is_empty_side(w.cta->kernel(), *w.barrier.array))
    return {};
  const std::vector<Debt> late = debtors_in(graph, w, next);
  if (late.empty() || !lists(full->waits, late.front().role())) return {};
  const Debt& first = late.front();
  const Mbarrier::State* filled =
      first.slot->context().mbarrier.find(full->base.offset() + 8u * uint32_t(w.barrier.stage));
  const int looked = use_of(first.state(), *full).waits;
  if (!filled || looked > turn_of(w)) return {};
  if (const Cause c = unarmed_fill_cause(graph, w, *full, *filled); c.certainty > 0) return c;
  if (filled->phase <= w.state->phase) return {};
  const BarrierArray& rounds = *next.barrier.array;
  const bool ahead = first.slot == w.cta && lists(rounds.waits, w.role) &&
                     use_of(first.state(), rounds).waits > use_of(w.warp(), rounds).waits;
  if (looked > 0 && !ahead) return {};
  const std::string who = first.role() + of_cta(w, first.cta);
  const std::string stage = fmt::format("{}[{}]", full->name, w.barrier.stage);
  const TileWork* tile = first.slot == w.cta ? tile_of_fill(w.warp(), w.cta->linear_id(), turn_of(w)) : nullptr;
  // Who has not come to the ring yet may be held up elsewhere: the arrival that is late there is surer.
  Cause cause{.certainty = ahead || tile ? 53 : 51};
  if (tile && !has_begun(first.state(), *tile))
    cause.text = fmt::format(
        "{} has skipped tile ({}, {}), or asks for the next too early: it has gone on to its next wait for {} "
        "without waiting for "
        "{}, which {} has filled",
        who, tile->m, tile->n, rounds.name, stage, w.role);
  else if (looked == 0 && !ahead)
    cause.text = fmt::format(
        "{} has never waited for {}, though {} is full: its wait is missing, or comes behind that "
        "for {}",
        who, full->name, stage, rounds.name);
  else
    cause.text = fmt::format(
        "{} has gone on to its next wait for {}, ahead of {}, without waiting for {}, which is "
        "full: it takes one too many, or leaves its work out",
        who, rounds.name, w.role, stage);
  blame(cause, graph, w, late);
  cause.fault_loc = next.blocked.loc, cause.after_line = false, cause.fault_doing.clear();
  return cause;
}

/// Of a cycle: whoever fills the ring has made as many fills as `w` has taken, and has gone on to what is waited
/// for once, behind all of them.
Cause one_too_many_cause(const WaitGraph& graph, const Wait& w, const std::vector<size_t>& cycle) {
  if (cycle.size() < 2 || !w.on_mbarrier()) return {};
  const Wait& next = graph.waits()[cycle[1]];
  const Kernel& kernel = w.cta->kernel();
  if (!next.on_mbarrier() || !partner(kernel, *w.barrier.array) || is_empty_side(kernel, *w.barrier.array) ||
      next.barrier.array->stages > 1 || partner(kernel, *next.barrier.array))
    return {};
  const std::vector<Debt> late = debtors_in(graph, w, next);
  if (late.empty() || turn_of(w) == 0 || use_of(late.front().state(), *w.barrier.array).arrivals != turn_of(w) ||
      use_of(w.warp(), *w.barrier.array).waits != turn_of(w))
    return {};
  const std::string filler = late.front().role() + of_cta(w, late.front().cta);
  Cause cause{.certainty = 51};
  cause.text = fmt::format(
      "{} waits for fill {} of {}, and {} has made {} and gone on to its wait for {}: {} takes one too many, or {} "
      "makes one too few{}",
      w.role, turn_of(w) + 1, w.barrier.array->name, filler, turn_of(w), next.barrier.array->name, w.role, filler,
      last_box_text(graph, w, late.front()));
  blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
  cause.fault_loc = w.blocked.loc, cause.after_line = false, cause.fault_doing.clear();
  return cause;
}

}  // namespace

Cause cycle_cause(const WaitGraph& graph, const Wait& w) {
  const std::vector<size_t> cycle = graph.cycle_through(graph.index(w));
  if (cycle.empty()) return {};
  const Cause left_full = left_full_cause(graph, w, cycle);
  if (left_full.certainty > kAheadOfLateArrivals) return left_full;
  if (const Cause c = late_arrival_cause(graph, w, cycle); c.certainty > 0) return c;
  if (const Cause c = barrier_in_cycle_cause(graph, w, cycle); c.certainty > 0) return c;
  if (left_full.certainty > 0) return left_full;
  if (const Cause c = one_too_many_cause(graph, w, cycle); c.certainty > 0) return c;
  // Many may wait at a cluster barrier for what is only seen elsewhere in the cycle.
  Cause c{.certainty = w.blocked.on == Blocked::On::cluster_barrier ? 49 : 50,
          .text = (cycle.size() == 1 ? "it waits for itself: " : "these wait for each other: ") +
                  cycle_text(graph, cycle)};
  blame(c, graph, w, w.debts.all);
  return c;
}

}  // namespace sm100::sim
