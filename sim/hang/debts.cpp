// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/debts.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "sim/hang/overcount.h"
#include "sim/ptx/ptx_uses.h"

namespace sm100::sim {

namespace {

using State = models::Mbarrier::State;
using Shares = std::vector<State::Share>;

uint64_t sum(const Shares& shares) {
  return std::accumulate(shares.begin(), shares.end(), uint64_t{0},
                         [](uint64_t all, const State::Share& s) { return all + s.amount; });
}

/// What a warp delivered by copies of one line.
uint64_t amount_like(const Shares& shares, const State::Share& like) {
  for (const State::Share& s : shares)
    if (s.cta == like.cta && s.warp == like.warp && s.loc.line() == like.loc.line()) return s.amount;
  return 0;
}

/// Only the even CTA of a pair commits: tcgen05.commit with cta_group 2.
bool by_leaders(Cta& owner, const BarrierArray& array, std::string_view role) {
  return owner.tcgen05_group == 2 && arrival_of(array, role) == "tcgen05.commit";
}

/// What a barrier of CTA `from` got, as the same barrier of `to` would get it: from the CTAs with the same place
/// relative to it.  Empty when there are none.
Shares moved(const Shares& shares, Cta& from, Cta& to, const BarrierArray& array) {
  if (from.cluster_ctas() != to.cluster_ctas()) return {};
  Shares all;
  for (State::Share s : shares) {
    uint32_t turn = from.cluster_rank() ^ to.cluster_rank();
    if (by_leaders(to, array, s.warp < 0 ? std::string_view() : to.kernel().role(s.warp))) turn &= ~1u;
    uint32_t rank = 0;
    while (rank < from.cluster_ctas() && from.peer_id(rank) != s.cta) ++rank;
    if (rank == from.cluster_ctas() || (rank ^ turn) >= to.cluster_ctas()) return {};
    s.cta = to.peer_id(rank ^ turn);
    all.push_back(s);
  }
  return all;
}

/// Calls f with what completed phases of comparable barriers got, the most comparable first, until it returns true.
template <class F>
void each_model(const Slots& slots, Cta& owner, const State& state, Shares State::*before, F&& f) {
  if (state.phase > 0 && f(state.*before)) return;
  const BarrierName name = barrier_name(owner.kernel(), state.offset);
  if (!name.array) return;
  const auto in = [&](Cta& cta) {
    for (int s = 0; s < name.array->stages; ++s) {
      const State* other = cta.context().mbarrier.find(name.array->base.offset() + 8u * uint32_t(s));
      if (other && other->phase > 0 && f(moved(other->*before, cta, owner, *name.array))) return true;
    }
    return false;
  };
  if (in(owner)) return;
  for (const bool same_rank : {true, false})
    for (Cta* cta : slots)
      if (cta != &owner && cta->linear_id() >= 0 && &cta->kernel() == &owner.kernel() &&
          (cta->cluster_rank() == owner.cluster_rank()) == same_rank)
        if (in(*cta)) return;
}

/// What `model` has and `now` lacks, if that is all that is missing and `now` has nothing else.
std::optional<Shares> lacking(const Shares& model, const Shares& now, uint64_t missing) {
  Shares owed;
  for (const State::Share& s : now)
    if (s.amount > amount_like(model, s)) return std::nullopt;
  for (const State::Share& s : model)
    if (const uint64_t have = amount_like(now, s); have < s.amount)
      owed.push_back({s.cta, s.warp, s.amount - have, s.loc});
  return !owed.empty() && sum(owed) == missing ? std::optional(owed) : std::nullopt;
}

std::optional<Shares> owed_by_model(const Slots& slots, Cta& owner, const State& state, Shares State::*now,
                                    Shares State::*before, uint64_t missing) {
  std::optional<Shares> owed;
  each_model(slots, owner, state, before,
             [&](const Shares& model) { return (owed = lacking(model, state.*now, missing)).has_value(); });
  return owed;
}

/// The warp has a part in the ring of the array, or, if it is no ring, in anything: scheduler warps of CTAs that
/// have nothing to schedule leave at once, the MMA warp of a pair's second CTA issues nothing.
bool takes_part(const Warp& warp, const Kernel& kernel, const BarrierArray& array) {
  if (warp.running && warp.cta.tcgen05_group != 2) return true;  // it may not have come to it yet
  if (const BarrierArray* other = partner(kernel, array))
    return use_of(warp, *other).waits > 0 || use_of(warp, array).arrivals > 0;
  return warp.running ||
         std::any_of(warp.use.begin(), warp.use.end(), [](const Warp::Use& u) { return u.waits > 0; });
}

/// Warps of the array's roles, or whose text arrives on it, in CTAs `first` to `last` of the owner's cluster.
Shares warps_of_table(const Slots& slots, Cta& owner, const BarrierArray& array, uint32_t first, uint32_t last,
                      bool participants) {
  Shares all;
  const PtxUses* uses = ptx_uses_of(owner.kernel());
  for (uint32_t rank = first; rank <= last; ++rank) {
    const Cta* cta = peer_slot(slots, owner, rank);
    if (cta->linear_id() != owner.peer_id(rank)) continue;
    for (const auto& warp : cta->warps())
      if ((lists(array.arrives, cta->kernel().role(warp->index)) ||
           (uses && uses->may_arrive(array, warp->index))) &&
          !(rank % 2 == 1 && by_leaders(owner, array, cta->kernel().role(warp->index))) &&
          (!participants || takes_part(*warp, cta->kernel(), array)))
        all.push_back({cta->linear_id(), warp->index, 0, {}});
  }
  return all;
}

/// No phase has completed: if the roles of the table in the own CTA, the pair or the cluster make up the count with
/// 32 arrivals or 1 each, they are who arrives.
std::optional<Shares> owed_by_table(const Slots& slots, Cta& owner, const State& state, const BarrierArray& array,
                                    uint64_t missing) {
  const uint32_t rank = owner.cluster_rank();
  std::vector<std::pair<uint32_t, uint32_t>> spans{{rank, rank}};
  if (owner.tcgen05_group == 2) spans.push_back({rank & ~1u, rank | 1u});
  spans.push_back({0, owner.cluster_ctas() - 1});
  for (const bool participants : {true, false})
    for (const auto& [first, last] : spans) {
      Shares model = warps_of_table(slots, owner, array, first, last, participants);
      for (const uint64_t each : {32u, 1u}) {
        if (model.size() * each != array.count) continue;
        for (State::Share& s : model) s.amount = each;
        if (auto owed = lacking(model, state.arrived, missing)) return owed;
      }
    }
  return std::nullopt;
}

Debts debts_of(const Slots& slots, Cta& owner, const Shares& shares, uint64_t Debt::*what) {
  Debts debts;
  for (const State::Share& s : shares)
    for (uint32_t r = 0; r < owner.cluster_ctas(); ++r)
      if (owner.peer_id(r) == s.cta && s.warp >= 0) {
        debts.all.push_back({.slot = peer_slot(slots, owner, r), .cta = s.cta, .warp = s.warp, .loc = s.loc});
        debts.all.back().*what = s.amount;
      }
  return debts;
}

}  // namespace

uint64_t amount_of(const Shares& shares, int cta, int warp) {
  uint64_t amount = 0;
  for (const State::Share& s : shares)
    if (s.cta == cta && s.warp == warp) amount += s.amount;
  return amount;
}

Debts arrivals_owed(const Slots& slots, Cta& owner, const State& state) {
  const MbarrierState word = decode_mbarrier(state.word);
  const BarrierName name = barrier_name(owner.kernel(), state.offset);
  if (word.pending == 0 || !name.array) return {};
  if (auto owed = owed_by_model(slots, owner, state, &State::arrived, &State::arrived_before, word.pending))
    return debts_of(slots, owner, *owed, &Debt::arrivals);
  // The count of a learned row is the one that is in question.
  const bool learned = ptx_uses_of(owner.kernel()) != nullptr;
  if (learned)
    if (Debts debts = overcount(slots, owner, state); debts.overcounted > 0) return debts;
  if (auto owed = owed_by_table(slots, owner, state, *name.array, word.pending))
    return debts_of(slots, owner, *owed, &Debt::arrivals);
  if (!learned)
    if (Debts debts = overcount(slots, owner, state); debts.overcounted > 0) return debts;
  // Not to be told: whoever of the roles has not come, in the own CTA first.
  Debts debts;
  const uint32_t rank = owner.cluster_rank();
  for (const auto& [first, last] : {std::pair{rank, rank}, std::pair{0u, owner.cluster_ctas() - 1}}) {
    Shares open = warps_of_table(slots, owner, *name.array, first, last, true);
    std::erase_if(open, [&](const State::Share& s) { return amount_of(state.arrived, s.cta, s.warp) > 0; });
    debts = debts_of(slots, owner, open, &Debt::arrivals);
    if (!debts.all.empty()) break;
  }
  debts.certain = false;
  return debts;
}

Debts bytes_owed(const Slots& slots, Cta& owner, const State& state) {
  const MbarrierState word = decode_mbarrier(state.word);
  if (word.pending != 0 || word.tx <= 0) return {};
  if (auto owed = owed_by_model(slots, owner, state, &State::received, &State::received_before, uint64_t(word.tx)))
    return debts_of(slots, owner, *owed, &Debt::bytes);
  // Without a completed phase: whoever has armed loads as well, unless others load more.
  if (usual_bytes(slots, owner, state) > 0) return {};
  Shares loads;
  for (const Shares& from : {state.arrived, state.received})
    for (const State::Share& s : from)
      if (amount_of(loads, s.cta, s.warp) == 0) loads.push_back({s.cta, s.warp, 1, {}});
  uint64_t most = 0;
  for (const State::Share& s : loads) most = std::max(most, amount_of(state.received, s.cta, s.warp));
  std::erase_if(loads, [&](const State::Share& s) {
    return loads.size() > 1 && amount_of(state.received, s.cta, s.warp) == most;
  });
  for (State::Share& s : loads) s.amount = 0;
  Debts debts = debts_of(slots, owner, loads, &Debt::bytes);
  debts.certain = false;
  return debts;
}

uint64_t usual_bytes(const Slots& slots, Cta& owner, const State& state) {
  uint64_t bytes = 0;
  each_model(slots, owner, state, &State::received_before,
             [&](const Shares& model) { return (bytes = sum(model)) > 0; });
  return bytes;
}

bool filled_like_others(const Slots& slots, Cta& owner, const State& state) {
  const BarrierName name = barrier_name(owner.kernel(), state.offset);
  if (!name.array) return false;
  const auto same = [](const Shares& a, const Shares& b) {
    return a.size() == b.size() &&
           std::all_of(a.begin(), a.end(), [&](const State::Share& s) { return amount_like(b, s) == s.amount; });
  };
  int alike = 0;
  for (uint32_t rank = 0; rank < owner.cluster_ctas(); ++rank) {
    Cta& cta = *peer_slot(slots, owner, rank);
    if (&cta.kernel() != &owner.kernel()) continue;
    for (int s = 0; s < name.array->stages; ++s) {
      const State* other = cta.context().mbarrier.find(name.array->base.offset() + 8u * uint32_t(s));
      if (!other || other == &state || (other->expected_bytes == 0 && other->received.empty())) continue;
      if (other->phase > 0 || other->expected_bytes != state.expected_bytes ||
          !same(moved(other->received, cta, owner, *name.array), state.received))
        return false;
      ++alike;
    }
  }
  return alike > 0;
}

std::string_view arrival_of(const BarrierArray& array, std::string_view role) {
  const auto parts = [](std::string_view list) {
    std::vector<std::string_view> all;
    for (size_t at = 0; at <= list.size();) {
      const size_t end = std::min(list.find(", ", at), list.size());
      all.push_back(list.substr(at, end - at));
      at = end + 2;
    }
    return all;
  };
  const auto roles = parts(array.arrives), instructions = parts(array.arrives_with);
  const auto at = std::find(roles.begin(), roles.end(), role);
  if (roles.size() != instructions.size() || at == roles.end()) return array.arrives_with;
  return instructions[size_t(at - roles.begin())];
}

int step_of(const BarrierArray& array) {
  const std::string_view with = array.arrives_with;
  if (with == "mbarrier.arrive.expect_tx") return 0;
  if (with == "tcgen05.commit") return 1;
  return with == "mbarrier.arrive" ? 2 : -1;
}

bool is_empty_side(const Kernel& kernel, const BarrierArray& array) {
  const std::string_view name = array.name;
  if (name.ends_with("_full") || name.ends_with("_empty")) return name.ends_with("_empty");
  const BarrierArray* other = partner(kernel, array);
  return other && step_of(array) > step_of(*other);
}

namespace {

/// Some role of the one list stands in the other.
bool share_roles(std::string_view a, std::string_view b) {
  for (size_t at = 0; at < a.size();) {
    const size_t end = std::min(a.find(", ", at), a.size());
    if (lists(b, a.substr(at, end - at))) return true;
    at = end + 2;
  }
  return false;
}

const BarrierArray* partner_by_use(const Kernel& kernel, const BarrierArray& array) {
  if (!ptx_uses_of(kernel) || step_of(array) < 0) return nullptr;
  const BarrierArray* found = nullptr;
  for (const BarrierArray& other : kernel.barriers) {
    const bool mirrors = &other != &array && other.stages == array.stages && step_of(other) >= 0 &&
                         step_of(other) != step_of(array) && share_roles(array.arrives, other.waits) &&
                         share_roles(array.waits, other.arrives);
    if (mirrors && found) return nullptr;
    if (mirrors) found = &other;
  }
  return found;
}

}  // namespace

const BarrierArray* partner(const Kernel& kernel, const BarrierArray& array) {
  const std::string_view name = array.name;
  const bool full = name.ends_with("_full");
  if (!full && !name.ends_with("_empty")) return partner_by_use(kernel, array);
  const std::string other = std::string(name.substr(0, name.rfind('_'))) + (full ? "_empty" : "_full");
  for (const BarrierArray& a : kernel.barriers)
    if (a.name == other) return &a;
  return nullptr;
}

const Warp::Use& use_of(const Warp& warp, const BarrierArray& array) {
  static const Warp::Use none;
  const std::vector<BarrierArray>& own = warp.cta.kernel().barriers;
  for (size_t i = 0; i < own.size() && i < warp.use.size(); ++i)
    if (&own[i] == &array) return warp.use[i];
  return none;
}

}  // namespace sm100::sim
