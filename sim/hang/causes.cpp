// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/hang/names.h"
#include "sim/hang/registers.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

using models::Mbarrier;
using models::MbarrierEvent;
using models::MbarrierEventKind;

/// Line where the warp delivers to the array: its own last one, else that of a warp of its role elsewhere.
std::string delivery_line(const WaitGraph& graph, const Debt& debt, const BarrierArray& array) {
  if (std::string exact = line_of(debt.loc); !exact.empty()) return exact;
  const auto line = [&](const Warp& warp) {
    if (warp.use.empty()) return std::string{};
    const Warp::Use& use = use_of(warp, array);
    return line_of(debt.bytes > 0 ? use.copied : use.arrived);
  };
  std::string own = line(debt.state());
  if (!own.empty()) return own;
  for (Cta* cta : graph.slots())
    for (const auto& warp : cta->warps())
      if (cta->kernel().role(warp->index) == debt.role())
        if (std::string other = line(*warp); !other.empty()) return other;
  return {};
}

/// Line of the role's stores to words of global memory.
std::string release_line(const WaitGraph& graph, const Debt& debt) {
  if (std::string own = line_of(debt.state().released); !own.empty()) return own;
  for (Cta* cta : graph.slots())
    for (const auto& warp : cta->warps())
      if (&cta->kernel() == &debt.kernel() && cta->kernel().role(warp->index) == debt.role())
        if (std::string other = line_of(warp->released); !other.empty()) return other;
  return {};
}

/// What a debtor does instead of delivering.
std::string doing(const WaitGraph& graph, const Debt& debt) {
  if (debt.exited()) return "has exited";
  const Wait* now = graph.of(debt);
  if (!now || now->blocked.on == Blocked::On::nothing) return "runs";
  return fmt::format("waits for {} at {}", waited_for(*now), line_of(now->blocked.loc));
}

/// Names the debtors of the first one's CTA and role among `debts` as those at fault.
void blame(Cause& cause, const WaitGraph& graph, const Wait& wait, const std::vector<Debt>& debts) {
  if (debts.empty()) return;
  const Debt& first = debts.front();
  cause.fault_role = first.role();
  cause.fault_cta = first.cta;
  cause.fault_slot = first.slot;
  for (const Debt& d : debts)
    if (d.cta == first.cta && d.role() == first.role()) cause.fault_warps.push_back(d.warp);
  cause.fault_doing = doing(graph, first);
  if (wait.blocked.on == Blocked::On::global_word) cause.fault_line = release_line(graph, first);
  if (!wait.on_mbarrier()) return;
  const BarrierArray& array = *wait.barrier.array;
  cause.fault_line = delivery_line(graph, first, array);
  const BarrierArray* other = partner(wait.cta->kernel(), array);
  if (!cause.fault_line.empty() || !other || first.exited()) return;
  cause.fault_line = line_of(use_of(first.state(), *other).waited);
  cause.after_line = true;
}

/// Blames whoever has armed the open phase.
void blame_arming(Cause& cause, const WaitGraph& graph, const Wait& w) {
  const uint64_t kept = std::min<uint64_t>(w.state->events, Mbarrier::State::kHistory);
  for (uint64_t i = w.state->events - kept; i < w.state->events; ++i) {
    const MbarrierEvent& e = w.state->history[i % Mbarrier::State::kHistory];
    if (e.phase != w.state->phase || e.kind != MbarrierEventKind::expect_tx || e.source.warp < 0) continue;
    for (uint32_t r = 0; r < w.cta->cluster_ctas(); ++r)
      if (w.cta->peer_id(r) == e.source.cta)
        blame(cause, graph, w,
              {{.slot = peer_slot(graph.slots(), *w.cta, r), .cta = e.source.cta, .warp = e.source.warp}});
    cause.fault_line = line_of(e.source.loc), cause.after_line = false;
  }
}

/// "of CTA 3", nothing where the GPU runs one CTA per cluster and the barrier is in the same one.
std::string of_cta(const Wait& w, int cta) {
  return cta == w.cta->linear_id() && w.cta->cluster_ctas() == 1 ? "" : fmt::format(" of CTA {}", cta);
}

/// The bytes that are missing here were counted by the same barrier of another CTA, where nobody expects them.
Cause strayed_bytes_cause(const WaitGraph& graph, const Wait& w, const MbarrierState& word) {
  if (word.tx <= 0) return {};
  for (uint32_t r = 0; r < w.cta->cluster_ctas(); ++r) {
    Cta& other = *peer_slot(graph.slots(), *w.cta, r);
    const Mbarrier::State* state = other.context().mbarrier.find(w.state->offset);
    if (&other == w.cta || !state || state->received.empty() || decode_mbarrier(state->word).tx >= 0) continue;
    const Mbarrier::State::Share& stray = state->received.front();
    const bool waited = std::any_of(graph.waits().begin(), graph.waits().end(), [&](const Wait& o) {
      return o.cta == &other && o.barrier.array == w.barrier.array;
    });
    if (waited || stray.cta != other.linear_id()) continue;
    Cause cause{.certainty = 97,
                .text = fmt::format(
                    "{} of CTA {} signals the bytes of its copies to {} of CTA {}, where nobody expects them; "
                    "CTA {} waits for them",
                    w.cta->kernel().role(stray.warp), stray.cta, text_of(w.barrier), other.linear_id(),
                    w.cta->linear_id())};
    for (uint32_t by = 0; by < w.cta->cluster_ctas(); ++by)
      if (w.cta->peer_id(by) == stray.cta)
        blame(cause, graph, w,
              {{.slot = peer_slot(graph.slots(), *w.cta, by), .cta = stray.cta, .warp = stray.warp, .bytes = 1}});
    return cause;
  }
  return {};
}

/// The first fill of all counts as many times what has come as the cluster has CTAs, though all of them load.
bool counts_the_cluster(const WaitGraph& graph, const Wait& w) {
  const uint32_t ctas = w.cta->cluster_ctas();
  if (ctas == 1 || w.state->phase > 0 || w.state->expected_bytes != ctas * w.state->received_bytes) return false;
  for (uint32_t r = 0; r < ctas; ++r)
    for (const auto& warp : peer_slot(graph.slots(), *w.cta, r)->warps())
      if (&warp->cta.kernel() == &w.cta->kernel() &&
          lists(w.barrier.array->arrives, warp->cta.kernel().role(warp->index)) &&
          line_of(use_of(*warp, *w.barrier.array).copied).empty())
        return false;
  return true;
}

/// In the first fill of all nobody knows which copies it has: that one is missing is as likely as that expect_tx
/// counts too much, so what is wrong by itself elsewhere comes first.
constexpr int kFirstFill = 90;
constexpr int kCopyGranule = 16;  ///< a box has a multiple of 16 bytes

/// "a copy is missing, or 192 is too much".
std::string first_fill_text(const Wait& w, const MbarrierState& word, uint32_t smallest) {
  return fmt::format(
      "expect_tx counts {} bytes more than the copies of this phase deliver: a copy is missing, {}or "
      "{} is too much",
      grouped(word.tx),
      uint32_t(word.tx) < smallest ? fmt::format("smaller than any to {} so far, ", w.barrier.array->name) : "",
      grouped(int64_t(w.state->expected_bytes)));
}

Cause bytes_cause(const WaitGraph& graph, const Wait& w, const MbarrierState& word) {
  if (Cause c = strayed_bytes_cause(graph, w, word); c.certainty > 0) return c;
  if (word.pending != 0 || word.tx == 0) return {};
  const auto expected = int64_t(w.state->expected_bytes);
  const auto usual = int64_t(usual_bytes(graph.slots(), *w.cta, *w.state));
  const uint32_t copy = w.cta->observer().smallest_copy(w.cta->kernel(), *w.barrier.array);
  const bool may_lack_a_copy = usual == 0 && word.tx % kCopyGranule == 0;
  if (word.tx > 0 && uint32_t(word.tx) < copy && !may_lack_a_copy) {
    Cause cause{.certainty = 100,
                .text = fmt::format("expect_tx counts {} bytes more than the copies of this phase deliver: ",
                                    grouped(word.tx))};
    cause.text += usual > 0 && usual != expected
                      ? fmt::format("{}, where a fill has {}", grouped(expected), grouped(usual))
                      : fmt::format("the smallest copy to {} brings {}, so none is missing", w.barrier.array->name,
                                    grouped(copy));
    blame_arming(cause, graph, w);
    return cause;
  }
  if (word.tx > 0 && w.cta->cluster_ctas() == 1 && !w.debts.certain && usual == 0 &&
      expected != int64_t(w.state->received_bytes) && w.debts.all.size() == 1 && w.state->received_bytes > 0) {
    // The first fill of all: nothing to compare it with.
    Cause cause{.certainty = kFirstFill, .text = first_fill_text(w, word, copy)};
    blame_arming(cause, graph, w);
    return cause;
  }
  if (word.tx > 0 && usual == 0 && counts_the_cluster(graph, w)) {
    Cause cause{
        .certainty = 98,
        .text = fmt::format("expect_tx counts {} bytes, {} times the {} that the copies of this phase deliver: "
                            "it counts them once for each CTA of the cluster",
                            grouped(expected), w.cta->cluster_ctas(), grouped(int64_t(w.state->received_bytes)))};
    blame_arming(cause, graph, w);
    return cause;
  }
  if (word.tx > 0 && usual == 0 && filled_like_others(graph.slots(), *w.cta, *w.state)) {
    const auto received = int64_t(w.state->received_bytes);
    Cause cause{.certainty = kFirstFill};
    cause.text =
        received > 0 && expected % received == 0
            ? fmt::format(
                  "expect_tx counts {} bytes, {} times the {} that the copies of this phase deliver, as of "
                  "every fill like it: a copy is missing in all of them, or it counts copies of another barrier",
                  grouped(expected), expected / received, grouped(received))
            : fmt::format(
                  "expect_tx counts {} bytes more than the copies of this phase deliver, as of every fill "
                  "like it: a copy is missing in all of them, or {} is too much",
                  grouped(word.tx), grouped(expected));
    blame_arming(cause, graph, w);
    return cause;
  }
  if (word.tx > 0 && uint32_t(word.tx) < copy) {
    Cause cause{.certainty = kFirstFill, .text = first_fill_text(w, word, copy)};
    blame_arming(cause, graph, w);
    return cause;
  }
  if (word.tx > 0 && w.debts.all.empty()) {
    Cause cause{.certainty = 100,
                .text = fmt::format(
                    "expect_tx counts {} bytes more than the copies of this phase deliver{}", grouped(word.tx),
                    usual > 0 && usual != expected
                        ? fmt::format(": {}, where a fill has {}", grouped(expected), grouped(usual))
                        : "")};
    blame_arming(cause, graph, w);
    return cause;
  }
  if (word.tx < 0) {
    Cause cause{.certainty = 100,
                .text = fmt::format("the copies of this phase deliver {} bytes more than expect_tx counts",
                                    grouped(-word.tx))};
    blame_arming(cause, graph, w);
    return cause;
  }
  return {};
}

std::string first_lap_text(const Wait& w) {
  return fmt::format(
      "{} waits for the release of a fill that it never made: a producer's first lap must wait for "
      "parity 1, which a fresh barrier passes",
      w.role);
}

/// Nothing has ever come to the barrier.
bool untouched(const Wait& w) { return w.on_mbarrier() && w.state->phase == 0 && w.state->events == 1; }

/// Nobody can have emptied what nobody has filled: MMAs read what copies bring, so of two that wait for each other
/// on barriers that nothing has come to, one for a commit and one for bytes, the first should not have waited.  For
/// rings without names; of named ones wrong_turn_cause knows more.
Cause nothing_to_empty_cause(const WaitGraph& graph, const Wait& w) {
  const BarrierArray& array = *w.barrier.array;
  if (!untouched(w) || partner(w.cta->kernel(), array) || std::string_view(array.arrives_with) != "tcgen05.commit")
    return {};
  // In a later lap it waits for the release of what it should have filled.
  if (use_of(w.warp(), array).waits > w.barrier.stage) return {};
  for (size_t i : w.on) {
    const Wait& other = graph.waits()[i];
    const bool mutual = std::find(other.on.begin(), other.on.end(), graph.index(w)) != other.on.end();
    if (!mutual || !untouched(other) ||
        std::string_view(other.barrier.array->arrives_with) != "mbarrier.arrive.expect_tx")
      continue;
    Cause cause{.certainty = 94, .text = first_lap_text(w)};
    blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
    cause.fault_line = line_of(w.blocked.loc), cause.after_line = false;
    return cause;
  }
  return {};
}

/// A cursor walks the stages in order and its parity flips with every lap: this wait breaks that.
Cause wrong_turn_cause(const WaitGraph& graph, const Wait& w) {
  const BarrierArray& array = *w.barrier.array;
  if (!partner(w.cta->kernel(), array)) return {};
  const bool full = std::string_view(array.name).ends_with("_full");
  const int waits = use_of(w.warp(), array).waits, stage = waits % array.stages, lap = waits / array.stages;
  const uint32_t parity = uint32_t(lap & 1) ^ (full ? 0u : 1u);  // a producer's first lap waits for parity 1
  Cause cause;
  if (stage != w.barrier.stage) {
    cause = {.certainty = 92,
             .text = fmt::format("{} waits for stage {} after {} waits on {}; its next stage is {}: it skipped or "
                                 "repeated a wait",
                                 w.role, w.barrier.stage, waits, array.name, stage)};
  } else if (parity == w.blocked.parity) {
    return {};
  } else if (!full && lap == 0) {
    cause = {.certainty = 94, .text = first_lap_text(w)};
  } else {
    cause = {.certainty = 94,
             .text = fmt::format("{} waits for parity {} in lap {} of {}; that lap's parity is {}", w.role,
                                 w.blocked.parity, lap, array.name, parity)};
  }
  blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
  cause.fault_line = line_of(w.blocked.loc), cause.after_line = false;
  return cause;
}

/// Some warp of the CTA has waited on the array, or does.
bool waited_in(const WaitGraph& graph, const Cta& cta, const BarrierArray& array) {
  return std::any_of(cta.warps().begin(), cta.warps().end(),
                     [&](const auto& warp) { return !warp->use.empty() && use_of(*warp, array).waits > 0; }) ||
         std::any_of(graph.waits().begin(), graph.waits().end(),
                     [&](const Wait& o) { return o.cta == &cta && o.barrier.array == &array; });
}

/// The arrival that is missing here is on the same barrier of another CTA, where nobody waits for it; the debtor
/// may have gone since.
Cause wrong_cta_cause(const WaitGraph& graph, const Wait& w, const std::vector<Debt>& passed) {
  const Debt& d = passed.front();
  for (uint32_t r = 0; r < w.cta->cluster_ctas(); ++r) {
    Cta& other = *peer_slot(graph.slots(), *w.cta, r);
    if (&other == w.cta || other.linear_id() != w.cta->peer_id(r)) continue;
    const Mbarrier::State* state = other.context().mbarrier.find(w.state->offset);
    if (!state || state->phase > 0 || waited_in(graph, other, *w.barrier.array)) continue;
    const auto& shares = d.bytes > 0 ? state->received : state->arrived;
    if (std::none_of(shares.begin(), shares.end(),
                     [&](const auto& s) { return s.cta == d.cta && s.warp == d.warp; }))
      continue;
    const int at = other.linear_id();
    Cause cause{
        .certainty = 96,
        .text = fmt::format("{} of CTA {} {} {} of {}, where nobody waits; CTA {} waits for it", d.role(), d.cta,
                            d.bytes > 0 ? "signals the bytes of its copies to" : "arrives on", text_of(w.barrier),
                            at == d.cta ? "its own CTA" : fmt::format("CTA {}", at), w.cta->linear_id())};
    blame(cause, graph, w, passed);
    return cause;
  }
  return {};
}

std::string passed_text(const Wait& w, const Debt& d) {
  const BarrierArray& array = *w.barrier.array;
  const std::string who = d.role() + of_cta(w, d.cta), barrier = text_of(w.barrier) + of_cta(w, w.cta->linear_id());
  const BarrierArray* other = partner(w.cta->kernel(), array);
  const bool empty = std::string_view(array.name).ends_with("_empty");
  const int waits = use_of(d.state(), array).waits;
  if (d.bytes > 0 || array.count == 0)
    return fmt::format("{} {} without a copy of {} bytes into stage {}: {} misses them", who,
                       d.exited() ? "has exited" : "has gone on", grouped(int64_t(d.bytes)), w.barrier.stage,
                       barrier);
  if (d.exited()) return fmt::format("{} has exited without its {} on {}", who, array.arrives_with, barrier);
  if (d.slot == w.cta && std::find(w.warps.begin(), w.warps.end(), d.warp) != w.warps.end() && waits >= 0)
    return fmt::format("{} waits for its own {} on {}, which is missing", who, array.arrives_with, barrier);
  if (!other) return fmt::format("{} has gone on without its {} on {}", who, array.arrives_with, barrier);
  if (empty)
    return fmt::format("{} has passed {}[{}] phase {} without releasing it: its {} on {} is missing", who,
                       other->name, w.barrier.stage, w.state->phase, array.arrives_with, barrier);
  return fmt::format("{} has acquired stage {} for phase {} without filling it: its {} on {} is missing", who,
                     w.barrier.stage, w.state->phase, array.arrives_with, barrier);
}

/// Someone who owes is past the point of delivery.
Cause passed_cause(const WaitGraph& graph, const Wait& w, const MbarrierState& word) {
  std::vector<Debt> passed;
  for (const Debt& d : w.debts.all)
    if (graph.has_passed(w, d)) passed.push_back(d);
  if (passed.empty()) return {};
  const Debt& first = passed.front();
  if (const Cause stray = wrong_cta_cause(graph, w, passed); stray.certainty > 0) return stray;
  Cause cause{.certainty = w.debts.certain ? 80 : 70, .text = passed_text(w, first)};
  if (first.exited()) --cause.certainty;
  if (word.pending > 0 && word.tx < 0) {
    cause.certainty = 95;
    cause.text = fmt::format("{} bytes were delivered to a phase that nobody armed: the {} of {}{} is missing",
                             grouped(-word.tx), w.barrier.array->arrives_with, first.role(), of_cta(w, first.cta));
  }
  blame(cause, graph, w, passed);
  return cause;
}

/// More releases than fills: someone releases what it has not waited for.
Cause early_release_cause(const WaitGraph& graph, const Wait& w) {
  const BarrierArray* full = partner(w.cta->kernel(), *w.barrier.array);
  if (!full || !std::string_view(w.barrier.array->name).ends_with("_empty")) return {};
  // Of a pair, the leader's barrier alone is filled.
  Cta* leader = w.cta->tcgen05_group == 2 ? peer_slot(graph.slots(), *w.cta, w.cta->cluster_rank() & ~1u) : w.cta;
  const Mbarrier::State* fill =
      leader->context().mbarrier.find(full->base.offset() + 8u * uint32_t(w.barrier.stage));
  if (!fill || fill->phase >= w.state->phase) return {};
  return {
      .certainty = 85,
      .text = fmt::format("{} has been released {} times but filled {} times: {} releases it without having waited "
                          "for {}",
                          text_of(w.barrier), w.state->phase, fill->phase, w.barrier.array->arrives, full->name)};
}

Cause mbarrier_cause(const WaitGraph& graph, const Wait& w) {
  const MbarrierState word = decode_mbarrier(w.state->word);
  const BarrierArray& array = *w.barrier.array;
  if (word.expected != array.count)
    return {.certainty = 110,
            .text = fmt::format("{} was initialised for {} arrivals per phase; the kernel's barrier table says {}",
                                text_of(w.barrier), word.expected, array.count)};
  if (copy_in_flight(graph, w)) return {.certainty = 1, .text = "copies for it are in flight"};
  if (Cause c = bytes_cause(graph, w, word); c.certainty > 0) return c;
  if (Cause c = passed_cause(graph, w, word); c.certainty > 90) return c;
  if (Cause c = wrong_turn_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = nothing_to_empty_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = early_release_cause(graph, w); c.certainty > 0) return c;
  return passed_cause(graph, w, word);
}

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
    cause.fault_line = line_of(w.blocked.loc), cause.fault_doing.clear();
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
    default: cause = {.certainty = 4, .text = "the cluster barrier " + missing_text(w)};
  }
  if (cause.certainty >= 60) return cause;
  if (const std::vector<size_t> cycle = graph.cycle_through(graph.index(w)); !cycle.empty()) {
    if (const Cause c = barrier_in_cycle_cause(graph, w, cycle); c.certainty > 0) return c;
    // Many may wait at a cluster barrier for what is only seen elsewhere in the cycle.
    Cause c{.certainty = w.blocked.on == Blocked::On::cluster_barrier ? 49 : 50,
            .text = (cycle.size() == 1 ? "it waits for itself: " : "these wait for each other: ") +
                    cycle_text(graph, cycle)};
    blame(c, graph, w, w.debts.all);
    return c;
  }
  if (cause.certainty == 0) {
    cause = {.certainty = w.on.empty() ? 25 : 5, .text = missing_text(w)};
    blame(cause, graph, w, w.debts.all);
  }
  return cause;
}

}  // namespace sm100::sim
