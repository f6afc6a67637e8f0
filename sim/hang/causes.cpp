// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/hang/blame.h"
#include "sim/hang/cycle_causes.h"
#include "sim/hang/mbarrier_causes.h"
#include "sim/hang/names.h"
#include "sim/hang/registers.h"
#include "sim/hang/work_causes.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

Cause named_barrier_cause(const WaitGraph& graph, const Wait& w) {
  const auto& named = w.cta->context().barriers.named(int(w.blocked.offset));
  const std::string counts = fmt::format("named barrier {} counts {} threads, {} have come", w.blocked.offset,
                                         named.expected, named.arrived);
  const NamedBarrier* row = named_barrier(w.cta->kernel(), int(w.blocked.offset));
  uint32_t threads = 0;
  for (const auto& warp : w.cta->warps())
    if (row && lists(row->roles, w.cta->kernel().role(warp->index))) threads += 32;
  // PTX gives the count no upper limit; but each warp comes once.
  const auto all = uint32_t(32 * w.cta->warps().size());
  if ((row && named.expected > 0 && named.expected != threads) || named.expected > all) {
    Cause cause{.certainty = 110};
    cause.text = named.expected > all
                     ? fmt::format("{} comes to {} with {} threads; the CTA has {}: it can never complete", w.role,
                                   w.cta->describe(w.blocked, true), named.expected, all)
                     : fmt::format("{} comes to {} with {} threads; those of its roles ({}) are {}", w.role,
                                   w.cta->describe(w.blocked, true), named.expected, row->roles, threads);
    blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
    cause.fault_loc = w.blocked.loc, cause.fault_doing.clear();
    return cause;
  }
  Cause cause{.certainty = 20, .text = counts};
  std::vector<Debt> exited;
  for (const Debt& d : w.debts.all)
    if (d.exited()) exited.push_back(d);
  if (!exited.empty()) {
    cause = {.certainty = 77, .text = fmt::format("{}; {} has exited without it", counts, exited.front().role())};
    blame(cause, graph, w, exited);
  } else if (w.debts.certain && !w.debts.all.empty()) {
    blame(cause, graph, w, w.debts.all);
    cause.text += fmt::format("; {} has not", w.debts.all.front().role());
  } else if (w.debts.all.empty() && named.expected > 0) {
    cause = {.certainty = 76, .text = counts + ", and no other warp is left: the count is wrong"};
  }
  return cause;
}

/// CTAs of the launch that have not started, and whose work CLC has not handed out.
uint64_t not_started(Cta& cta) {
  const Dim3& cluster = cta.kernel().cluster;
  return cta.gpu().clc().waiting(cta.launch()) * cluster.x * cluster.y * cluster.z;
}

Cause word_cause(const WaitGraph& graph, const Wait& w) {
  const Warp& warp = w.warp();
  const std::string word = w.cta->describe(w.blocked, true);
  const std::string wanted = warp.in_tile() && warp.awaited_k > 0
                                 ? fmt::format("{} of CTA {} waits until {} holds {}; it holds {}", w.role,
                                               w.cta->linear_id(), word, warp.awaited_k, w.blocked.value)
                                 : fmt::format("nobody stores a value other than {} to {}", w.blocked.value, word);
  Cause cause{.certainty = 30, .text = wanted};
  std::vector<Debt> passed;
  for (const Debt& d : w.debts.all)
    if (graph.has_passed(w, d)) passed.push_back(d);
  if (!passed.empty()) {
    cause = {.certainty = 82,
             .text = fmt::format("{} of CTA {} has finished its part of the tile without its store to {}",
                                 passed.front().role(), passed.front().cta, word)};
    blame(cause, graph, w, passed);
  } else if (!w.debts.all.empty()) {
    blame(cause, graph, w, w.debts.all);
  }
  const auto* last = w.cta->gpu().words().last_store(w.blocked.address);
  const uint64_t missing_ctas = not_started(*w.cta);
  if (last && last->value != w.blocked.value) {
    cause = {
        .certainty = 78,
        .text = fmt::format("{} was {} and has been overwritten by a plain store before {} of CTA {} looked: it "
                            "holds {}",
                            word, last->value, w.role, w.cta->linear_id(), w.blocked.value)};
  } else if (last && last->value < last->before && w.debts.all.empty()) {
    cause = {.certainty = 78,
             .text = fmt::format("{} was {} and has been put back to {} by CTA {} before {} of CTA {} looked", word,
                                 last->before, last->value, last->by.cta, w.role, w.cta->linear_id())};
  } else if (missing_ctas > 0 && w.debts.all.empty()) {
    cause = {.certainty = 79,
             .text = fmt::format("{} of the {} CTAs have never started: there is no room for them before others "
                                 "exit, and those that run wait until {} changes",
                                 missing_ctas, w.cta->kernel().ctas(), word)};
  }
  return cause;
}

/// "CTA 1 holds 256 columns, CTA 0 holds 256 columns": all of the SM, the own ones last.
std::string holders_text(const Cta& cta) {
  std::vector<std::pair<int, uint32_t>> held;  // by CTA
  for (const bool own : {false, true})
    for (const auto& a : cta.context().tmem.allocations()) {
      if (own != (a.slot == cta.slot())) continue;
      const auto known = std::find_if(held.begin(), held.end(), [&](const auto& h) { return h.first == a.by.cta; });
      if (known == held.end())
        held.push_back({a.by.cta, a.columns});
      else
        known->second += a.columns;
    }
  std::string text;
  for (const auto& [id, columns] : held)
    text += fmt::format("{}CTA {} holds {} columns", text.empty() ? "" : ", ", id, columns);
  return text;
}

Cause tensor_memory_cause(const WaitGraph& graph, const Wait& w) {
  const bool dealloc = w.blocked.on == Blocked::On::tmem_dealloc;
  const Cta* holder = w.debts.all.empty() ? nullptr : w.debts.all.front().slot;
  const bool by_neighbour = !dealloc && holder && holder != w.cta && &holder->sm() == &w.cta->sm();
  const bool for_peer = dealloc || (holder && holder != w.cta && !by_neighbour);
  const std::string instruction = dealloc ? "tcgen05.dealloc" : "tcgen05.alloc";
  Cause cause{.certainty = 20};
  cause.text =
      w.debts.all.empty()
          ? fmt::format("{} of {} columns waits for tensor memory that nobody holds", instruction, w.blocked.offset)
      : for_peer     ? fmt::format("{} of {} columns waits for that of CTA {}", instruction, w.blocked.offset,
                                   w.debts.all.front().cta)
      : by_neighbour ? fmt::format("{} of {} columns waits for tensor memory of SM {}: {}", instruction,
                                   w.blocked.offset, w.cta->sm().id, holders_text(*w.cta))
                     : fmt::format("{} of {} columns waits for tensor memory that {} of CTA {} holds", instruction,
                                   w.blocked.offset, w.debts.all.front().role(), w.debts.all.front().cta);
  std::vector<Debt> gone;
  for (const Debt& d : w.debts.all)
    if (d.exited()) gone.push_back(d);
  blame(cause, graph, w, gone.empty() ? w.debts.all : gone);
  if (!gone.empty()) {
    cause.certainty = 78;
    cause.text += ", which has exited";
  } else if (const Wait* now = w.debts.all.empty() ? nullptr : graph.of(w.debts.all.front());
             for_peer && now && now->blocked.on == Blocked::On::mbarrier) {
    cause.certainty = 78;
    cause.text += ", which has gone on without it";
  } else if (by_neighbour && now && now->blocked.on == Blocked::On::tmem_alloc) {
    cause.certainty = 61;
    cause.text += fmt::format("; {} of CTA {} waits for {} columns too, and neither gives up what it holds",
                              now->role, now->cta->linear_id(), now->blocked.offset);
  } else if (!w.debts.all.empty() && !for_peer && now == &w) {
    cause.certainty = 60;
    cause.text += ": the warp waits for itself";
  }
  return cause;
}

}  // namespace

bool copy_in_flight(const WaitGraph& graph, const Wait& w) {
  // A load of a peer may signal our barrier.
  for (uint32_t r = 0; r < w.cta->cluster_ctas(); ++r)
    for (const auto& f : peer_slot(graph.slots(), *w.cta, r)->context().tma.loads_in_flight())
      if (f.barrier == w.blocked.offset && f.signal_slot == w.cta->slot()) return true;
  return false;
}

Cause cause_of(const WaitGraph& graph, const Wait& w) {
  Cause cause;
  switch (w.blocked.on) {
    case Blocked::On::nothing: return {.certainty = 0, .text = "it still runs"};
    case Blocked::On::mbarrier:
      if (!w.on_mbarrier()) return {.certainty = 60, .text = "the barrier is no barrier of this kernel"};
      cause = mbarrier_cause(graph, w);
      break;
    case Blocked::On::named_barrier: cause = named_barrier_cause(graph, w); break;
    case Blocked::On::global_word: cause = word_cause(graph, w); break;
    case Blocked::On::tmem_alloc:
    case Blocked::On::tmem_dealloc: cause = tensor_memory_cause(graph, w); break;
    case Blocked::On::registers:
      cause = register_cause(w);
      blame(cause, graph, w, w.debts.all);
      break;
    case Blocked::On::prerequisite_grids:  // the launch ahead is stuck
      return {.certainty = 3, .text = "griddepcontrol.wait " + missing_text(w)};
    case Blocked::On::wgmma:
      cause = {.certainty = 50,
               .text = "the four warps of a warpgroup execute wgmma together; it " + missing_text(w)};
      blame(cause, graph, w, w.debts.all);
      break;
    default: cause = {.certainty = 4, .text = "the cluster barrier " + missing_text(w)};
  }
  if (cause.certainty != 1)
    if (const Cause c = work_cause(graph, w); c.certainty > cause.certainty) return c;
  if (cause.certainty >= 60) return cause;
  if (const Cause c = cycle_cause(graph, w); c.certainty > 0) return c;
  if (cause.certainty == 0) {
    cause = {.certainty = w.on.empty() ? 25 : 5, .text = missing_text(w)};
    blame(cause, graph, w, w.debts.all);
  }
  return cause;
}

}  // namespace sm100::sim
