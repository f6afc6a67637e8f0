// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/overcount.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sim/compiled_place.h"
#include "sim/hang/blame.h"
#include "sim/hang/names.h"
#include "sim/ptx/ptx_uses.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

using BarrierState = models::Mbarrier::State;

/// The CTAs of the owner's cluster that are where they were.
std::vector<Cta*> cluster_of(const Slots& slots, Cta& owner) {
  std::vector<Cta*> all;
  for (uint32_t rank = 0; rank < owner.cluster_ctas(); ++rank)
    if (Cta* cta = peer_slot(slots, owner, rank); cta->linear_id() == owner.peer_id(rank)) all.push_back(cta);
  return all;
}

/// Some warp of the CTA has waited on the array, or does.
bool awaited_in(const Cta& cta, const BarrierArray& array) {
  return std::any_of(cta.warps().begin(), cta.warps().end(), [&](const auto& warp) {
    return use_of(*warp, array).waits > 0 || (warp->running && warp->blocked.on == Blocked::On::mbarrier &&
                                              barrier_name(cta.kernel(), warp->blocked.offset).array == &array);
  });
}

/// The same barrier of the cluster's CTAs is used everywhere as here or nowhere; theirs that are used.  Empty:
/// there are differences, or a phase of a comparable barrier has completed, so that the count is right.
std::vector<const BarrierState*> open_alike(const std::vector<Cta*>& ctas, const BarrierState& state,
                                            const BarrierArray& array) {
  std::vector<const BarrierState*> alike;
  for (Cta* cta : ctas)
    for (int stage = 0; stage < array.stages; ++stage) {
      const uint32_t offset = array.base.offset() + 8u * uint32_t(stage);
      const BarrierState* other = cta->context().mbarrier.find(offset);
      if (!other) continue;
      if (other->phase > 0 && decode_mbarrier(other->word).expected == decode_mbarrier(state.word).expected)
        return {};
      if (offset != state.offset || other->arrived.empty()) continue;
      if (decode_mbarrier(other->word).pending != decode_mbarrier(state.word).pending) return {};
      if (!awaited_in(*cta, array)) return {};
      alike.push_back(other);
    }
  return alike;
}

uint64_t delivered(const std::vector<const BarrierState*>& states, const Cta& cta, int warp) {
  uint64_t amount = 0;
  for (const BarrierState* state : states) amount += amount_of(state->arrived, cta.linear_id(), warp);
  return amount;
}

/// An arrival whose barrier the text leaves open belongs to the array on which the line has been seen; unseen, it
/// may belong to this one.
bool may_be_of(const PtxUse& use, const std::vector<Cta*>& ctas, const BarrierArray& array) {
  for (const Cta* cta : ctas)
    for (const auto& warp : cta->warps())
      for (size_t i = 0; i < warp->use.size() && i < cta->kernel().barriers.size(); ++i)
        if (&cta->kernel().barriers[i] != &array && place_of(warp->use[i].arrived).ptx.line == unsigned(use.line))
          return false;
  return true;
}

/// And the line is not one of those whose arrivals have come here.
bool unseen(const PtxUse& use, const std::vector<Cta*>& ctas, const BarrierArray& array,
            const std::vector<const BarrierState*>& states) {
  const auto at_line = [&](const Loc& loc) { return place_of(loc).ptx.line == unsigned(use.line); };
  for (const Cta* cta : ctas)
    for (const auto& warp : cta->warps())
      if (at_line(use_of(*warp, array).arrived)) return false;
  for (const BarrierState* state : states)
    for (uint64_t i = 0; i < std::min<uint64_t>(state->events, BarrierState::kHistory); ++i)
      if (at_line(state->history[i].source.loc)) return false;
  return true;
}

/// A warp of a role that arrives; false for those that have left without any part in the kernel's work.
bool is_missing(const Warp& warp, const BarrierArray& array) {
  if (warp.running) return true;
  return std::any_of(warp.use.begin(), warp.use.end(), [](const Warp::Use& u) { return u.waits > 0; }) ||
         use_of(warp, array).arrivals > 0;
}

/// Where all lanes should have come and one of each warp has, the count is right.
bool lacks_lanes(uint64_t missing, const std::vector<Debt>& came) {
  return missing % (kWarpLanes - 1) == 0 &&
         std::all_of(came.begin(), came.end(), [](const Debt& d) { return d.arrivals == 1; });
}

/// "epilogue (warps 4-7) of CTAs 0-1, mma (warp 1) of CTA 0".
std::string came_text(const std::vector<Debt>& came) {
  std::map<std::string, std::pair<std::vector<int>, std::vector<int>>> by_role;
  for (const Debt& d : came) by_role[d.role()].first.push_back(d.warp), by_role[d.role()].second.push_back(d.cta);
  std::vector<std::string> texts;
  for (auto& [role, who] : by_role) {
    std::sort(who.first.begin(), who.first.end());
    who.first.erase(std::unique(who.first.begin(), who.first.end()), who.first.end());
    texts.push_back(warps_text(role, who.first) + " of " + ctas_text(who.second));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Lines of the text that arrive on the array and that nobody has come to.
std::vector<std::string> lines_not_reached(const WaitGraph& graph, const Wait& w) {
  std::vector<std::string> lines;
  const PtxUses* uses = ptx_uses_of(w.cta->kernel());
  const std::vector<Cta*> ctas = cluster_of(graph.slots(), *w.cta);
  const std::vector<const BarrierState*> states = open_alike(ctas, *w.state, *w.barrier.array);
  for (const PtxUse* use : uses ? uses->of(*w.barrier.array) : std::vector<const PtxUse*>{})
    if (use->use.arrives() && unseen(*use, ctas, *w.barrier.array, states))
      if (const std::string line = line_of(use->loc); std::find(lines.begin(), lines.end(), line) == lines.end())
        lines.push_back(line);
  return lines;
}

/// Each CTA of the cluster has brought as many as are missing, or a part of it: another's may belong here, too.
bool may_lack_a_cta(const Wait& w) {
  if (w.cta->cluster_ctas() == 1) return false;
  std::map<int, uint64_t> by_cta;
  for (const BarrierState::Share& s : w.state->arrived) by_cta[s.cta] += s.amount;
  return by_cta.size() < w.cta->cluster_ctas() && w.debts.overcounted % by_cta.begin()->second == 0;
}

}  // namespace

Debts overcount(const Slots& slots, Cta& owner, const BarrierState& state) {
  const BarrierName name = barrier_name(owner.kernel(), state.offset);
  const uint32_t missing = decode_mbarrier(state.word).pending;
  if (missing == 0 || !name.array || state.arrived.empty()) return {};
  const BarrierArray& array = *name.array;
  const std::vector<Cta*> ctas = cluster_of(slots, owner);
  const std::vector<const BarrierState*> states = open_alike(ctas, state, array);
  if (ctas.size() < owner.cluster_ctas() || states.empty()) return {};

  const PtxUses* uses = ptx_uses_of(owner.kernel());
  if (uses && uses->calls) return {};
  Debts debts;
  std::map<std::string, uint64_t> of_line;  // each warp's arrivals
  for (Cta* cta : ctas)
    for (const auto& warp : cta->warps()) {
      const uint64_t amount = delivered(states, *cta, warp->index);
      const std::string& role = cta->kernel().role(warp->index);
      if (amount == 0) {
        const bool odd =
            cta->tcgen05_group == 2 && cta->cluster_rank() % 2 == 1 && arrival_of(array, role) == "tcgen05.commit";
        if (!odd && ((uses && uses->may_arrive(array, warp->index)) ||
                     (lists(array.arrives, role) && is_missing(*warp, array))))
          return {};
        continue;
      }
      // Another arrival of one of them is missing, or another lane.
      const std::string line = line_of(use_of(*warp, array).arrived);
      if (of_line.emplace(line, amount).first->second != amount) return {};
      if (amount + missing == kWarpLanes && amount > 1) return {};
      debts.came.push_back({.slot = cta, .cta = cta->linear_id(), .warp = warp->index, .arrivals = amount});
    }
  if (debts.came.empty() || lacks_lanes(missing, debts.came)) return {};
  if (uses)
    for (const PtxUse& use : uses->all)
      if (use.use.arrives() && !use.use.barrier && may_be_of(use, ctas, array) && unseen(use, ctas, array, states))
        return {};
  debts.overcounted = missing;
  return debts;
}

Cause overcount_cause(const WaitGraph& graph, const Wait& w) {
  if (w.debts.overcounted == 0) return {};
  const std::vector<int> distances = graph.distances_from(graph.index(w));
  const bool all_follow = std::all_of(w.debts.came.begin(), w.debts.came.end(), [&](const Debt& d) {
    const Wait* now = graph.of(d);
    return !now || distances[graph.index(*now)] >= 0;
  });
  const std::vector<std::string> not_reached = lines_not_reached(graph, w);
  const MbarrierState word = decode_mbarrier(w.state->word);
  const int64_t came = int64_t(word.expected) - word.pending;
  Cause cause{.certainty = !all_follow ? 52 : not_reached.empty() ? 93 : 72};
  cause.text = fmt::format(
      "{}{} is initialised for {} arrivals a phase; {} come, of {}, and nobody else arrives on it: the count "
      "is {} too high",
      text_of(w.barrier), of_cta(w, w.cta->linear_id()), grouped(word.expected),
      came == 1 ? "1 has" : grouped(came) + " have", came_text(w.debts.came), grouped(w.debts.overcounted));
  if (!not_reached.empty())
    cause.text += fmt::format(", or it misses the arrival at {}, which nobody has come to", not_reached.front());
  else if (may_lack_a_cta(w))
    cause.text += ", or arrivals of other CTAs of the cluster should come here, too";
  else
    cause.text += ", or an arrival is not in the program";
  blame_init(cause, graph, w);
  return cause;
}

}  // namespace sm100::sim
