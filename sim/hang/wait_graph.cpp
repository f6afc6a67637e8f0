// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/wait_graph.h"

#include <algorithm>
#include <deque>

#include "sim/hang/registers.h"

namespace sm100::sim {

WaitGraph::WaitGraph(Slots slots) : slots_(std::move(slots)) {
  for (Cta* cta : slots_)
    if (cta->resident()) add_waits(*cta);
  std::stable_partition(waits_.begin(), waits_.end(),
                        [](const Wait& w) { return w.blocked.on != Blocked::On::nothing; });
  for (Wait& w : waits_) w.debts = debts_of(w);
  for (Wait& w : waits_)
    for (const Debt& d : w.debts.all)
      if (const Wait* other = of(d); other && std::find(w.on.begin(), w.on.end(), index(*other)) == w.on.end())
        w.on.push_back(index(*other)), waits_[index(*other)].followers.push_back(index(w));
}

void WaitGraph::add_waits(Cta& cta) {
  const size_t first = waits_.size();
  for (const auto& warp : cta.warps()) {
    if (!warp->running) continue;
    const std::string& role = cta.kernel().role(warp->index);
    const Blocked& b = warp->blocked;
    const auto same = std::find_if(waits_.begin() + long(first), waits_.end(), [&](const Wait& w) {
      const Blocked& o = w.blocked;
      return w.role == role && o.on == b.on && o.offset == b.offset && o.parity == b.parity &&
             o.address == b.address;
    });
    if (same != waits_.end()) {
      same->warps.push_back(warp->index);
      continue;
    }
    Wait w{.cta = &cta, .role = role, .warps = {warp->index}, .blocked = b};
    if (b.on == Blocked::On::mbarrier) {
      w.barrier = barrier_name(cta.kernel(), b.offset);
      w.state = cta.context().mbarrier.find(b.offset);
    }
    waits_.push_back(std::move(w));
  }
}

const Wait* WaitGraph::of(const Debt& debt) const {
  if (debt.exited()) return nullptr;
  for (const Wait& w : waits_)
    if (w.cta == debt.slot && std::find(w.warps.begin(), w.warps.end(), debt.warp) != w.warps.end()) return &w;
  return nullptr;
}

// ---- debts

Debts WaitGraph::debts_of(const Wait& w) const {
  switch (w.blocked.on) {
    case Blocked::On::mbarrier: {
      if (!w.on_mbarrier()) return {};
      Debts debts = arrivals_owed(slots_, *w.cta, *w.state);
      if (debts.all.empty() && debts.overcounted == 0) debts = bytes_owed(slots_, *w.cta, *w.state);
      return debts;
    }
    case Blocked::On::named_barrier: return named_barrier_debts(w);
    case Blocked::On::cluster_barrier: {
      Debts debts;
      for (const auto& [rank, warp] : w.cta->gpu().clusters().barrier_misses(w.cta->slot()))
        debts.all.push_back({.slot = peer_slot(slots_, *w.cta, rank), .cta = w.cta->peer_id(rank), .warp = warp});
      return debts;
    }
    case Blocked::On::tmem_alloc:
    case Blocked::On::tmem_dealloc: return tensor_memory_debts(w);
    case Blocked::On::registers: return register_debts(w);
    case Blocked::On::global_word: return word_debts(w);
    case Blocked::On::wgmma: {
      Debts debts;
      for (const int warp : w.cta->context().wgmma.missing(w.warp().index, w.blocked.offset))
        debts.all.push_back({.slot = w.cta, .cta = w.cta->linear_id(), .warp = warp});
      return debts;
    }
    default: return {};
  }
}

/// Those of the kernel's table that have not come; else those of the generation before; else those of the role;
/// else all others.
Debts WaitGraph::named_barrier_debts(const Wait& w) const {
  const auto& named = w.cta->context().barriers.named(int(w.blocked.offset));
  if (named.expected == 0) return {};  // it has just opened
  const size_t missing = (named.expected - named.arrived) / 32;
  Debts debts;
  const auto add = [&](auto&& wanted) {
    if (debts.all.size() >= missing) return;
    debts.all.clear();
    for (const auto& warp : w.cta->warps())
      if (!(named.warps >> warp->index & 1) && wanted(*warp))
        debts.all.push_back({.slot = w.cta, .cta = w.cta->linear_id(), .warp = warp->index});
  };
  if (const NamedBarrier* row = named_barrier(w.cta->kernel(), int(w.blocked.offset)))
    add([&](const Warp& warp) { return lists(row->roles, warp.cta.kernel().role(warp.index)); });
  add([&](const Warp& warp) { return (named.last_warps >> warp.index & 1) != 0; });
  add([&](const Warp& warp) { return w.cta->kernel().role(warp.index) == w.role; });
  add([](const Warp&) { return true; });
  debts.certain = debts.all.size() == missing;
  return debts;
}

Debts WaitGraph::tensor_memory_debts(const Wait& w) const {
  Debts debts;
  Cta& cta = *w.cta;
  const bool pair = cta.tcgen05_group == 2;
  Cta* peer = pair ? peer_slot(slots_, cta, cta.cluster_rank() ^ 1) : nullptr;
  if (w.blocked.on == Blocked::On::tmem_dealloc || (pair && !peer->context().tmem.in_pair_alloc())) {
    // The warp of the peer that does what this one does, unless the columns say which one holds them.
    int warp = w.warps.front();
    if (w.blocked.on == Blocked::On::tmem_dealloc && !peer->context().tmem.allocations().empty())
      warp = peer->context().tmem.allocations().front().by.warp;
    if (warp >= 0) debts.all.push_back({.slot = peer, .cta = cta.peer_id(cta.cluster_rank() ^ 1), .warp = warp});
    return debts;
  }
  // Other CTAs of the SM first: what the CTA itself holds it seldom gives back for more.
  for (const bool own : {false, true})
    for (Cta* of : {&cta, peer})
      if (of)
        for (const auto& a : of->context().tmem.allocations())
          if (a.by.warp >= 0 && own == (a.slot == of->slot()))
            debts.all.push_back({.slot = slots_[size_t(a.slot)], .cta = a.by.cta, .warp = a.by.warp});
  return debts;
}

/// Those that work or worked on the same tile: the first that should have stored and did not, else those that still
/// may.
Debts WaitGraph::word_debts(const Wait& w) const {
  const Warp& waiting = w.warp();
  if (!waiting.in_tile()) return {};
  const Warp::Tile tile = waiting.tiles.back();
  Debts passed, open;
  for (Cta* slot : slots_)
    for (const auto& warp : slot->warps()) {
      if (warp->index != waiting.index) continue;
      int last = -1;  // of the CTAs of this slot that had the tile
      for (const Warp::Tile& t : warp->tiles) {
        if (t.m != tile.m || t.n != tile.n || t.cta == last) continue;
        if (&slot->launches().kernel_of_cta(t.cta) != &w.cta->kernel()) continue;
        last = t.cta;
        const Debt debt{.slot = slot, .cta = t.cta, .warp = warp->index};
        const bool in_it = slot->linear_id() == t.cta && warp->running && warp->in_tile() &&
                           warp->tiles.back().m == tile.m && warp->tiles.back().n == tile.n;
        if (in_it && !(warp->blocked.on == Blocked::On::global_word && warp->blocked.address == w.blocked.address))
          open.all.push_back(debt);
        if (store_passed(w, debt)) passed.all.push_back(debt);
      }
    }
  return passed.all.empty() ? open : passed;
}

/// It has been through the tile more often than it has stored to the tile's word.
bool WaitGraph::store_passed(const Wait& w, const Debt& debt) const {
  const Warp::Tile& tile = w.warp().tiles.back();
  const Warp& warp = debt.state();
  auto visits = std::count_if(warp.tiles.begin(), warp.tiles.end(), [&](const Warp::Tile& t) {
    return t.cta == debt.cta && t.m == tile.m && t.n == tile.n;
  });
  if (!debt.exited() && warp.in_tile() && warp.tiles.back().m == tile.m && warp.tiles.back().n == tile.n) --visits;
  const auto* stores = w.cta->gpu().words().last_store(w.blocked.address);
  return visits > (stores ? std::count(stores->ctas.begin(), stores->ctas.end(), debt.cta) : 0);
}

// ---- past the point

namespace {

/// At a barrier of the whole cluster, or of all warps of the CTA.
bool needs_all_warps(const Wait& w) {
  if (w.blocked.on == Blocked::On::cluster_barrier) return true;
  return w.blocked.on == Blocked::On::named_barrier &&
         w.cta->context().barriers.named(int(w.blocked.offset)).expected == 32 * w.cta->warps().size();
}

}  // namespace

bool WaitGraph::has_passed(const Wait& wait, const Debt& debt) const {
  if (wait.blocked.on == Blocked::On::global_word) return store_passed(wait, debt);
  if (debt.exited()) return true;
  const Wait* now = of(debt);
  if (now == &wait && wait.blocked.on != Blocked::On::tmem_alloc) return true;  // it waits for itself
  if (!wait.on_mbarrier() || !now) return false;
  const BarrierArray& array = *wait.barrier.array;
  const BarrierArray* other = partner(wait.cta->kernel(), array);
  if (!other || !lists(other->waits, debt.role())) {
    // No ring, or its role waits for neither side of it: it is where a warp of its role is that has delivered.
    return std::any_of(wait.state->arrived.begin(), wait.state->arrived.end(), [&](const auto& share) {
      for (const Wait& w : waits_)
        if (w.cta->linear_id() == share.cta && w.role == now->role && w.blocked.on == now->blocked.on &&
            w.blocked.loc.line() == now->blocked.loc.line() && w.blocked.offset == now->blocked.offset &&
            std::find(w.warps.begin(), w.warps.end(), share.warp) != w.warps.end())
          return now->blocked.on != Blocked::On::nothing;
      return false;
    });
  }
  // Delivery n to a ring comes between the n-th wait on its other array and the next.
  const int64_t n = wait.state->phase * array.stages + wait.barrier.stage;
  const int64_t waits = use_of(debt.state(), *other).waits;
  if (waits != n + 1) return waits > n + 1;
  if (needs_all_warps(*now)) return true;  // the way out: its rings lie behind it
  if (now->blocked.on != Blocked::On::mbarrier || !now->on_mbarrier()) return false;
  if (now->barrier.array == other || now->barrier.array == &array) return true;
  // A result is committed after the input that it is made of: until then its stage stays acquired.  And what is
  // read together with the stages of another ring is handed back with the last of them.
  const BarrierArray* input = partner(wait.cta->kernel(), *now->barrier.array);
  if (!input || !is_empty_side(wait.cta->kernel(), *input) || !lists(input->arrives, debt.role())) return true;
  const bool feeds =
      lists(input->arrives_with, "tcgen05.commit") && std::string_view(array.arrives_with) == "tcgen05.commit";
  const bool read_with = std::string_view(input->arrives_with) == "fenced mbarrier.arrive";
  return !feeds && !read_with;
}

// ---- paths

std::vector<size_t> WaitGraph::cycle_through(size_t wait) const {
  std::vector<size_t> before(waits_.size(), SIZE_MAX);
  std::deque<size_t> open{wait};
  for (; !open.empty(); open.pop_front())
    for (size_t next : waits_[open.front()].on) {
      if (next == wait) {
        std::vector<size_t> cycle;
        for (size_t at = open.front(); at != wait; at = before[at]) cycle.push_back(at);
        cycle.push_back(wait);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (before[next] != SIZE_MAX) continue;
      before[next] = open.front();
      open.push_back(next);
    }
  return {};
}

std::vector<int> WaitGraph::distances_from(size_t root) const {
  std::vector<int> distance(waits_.size(), -1);
  distance[root] = 0;
  std::deque<size_t> open{root};
  for (; !open.empty(); open.pop_front())
    for (size_t i : waits_[open.front()].followers)
      if (distance[i] < 0) {
        distance[i] = distance[open.front()] + 1;
        open.push_back(i);
      }
  return distance;
}

}  // namespace sm100::sim
