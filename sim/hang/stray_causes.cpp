// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/stray_causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/hang/blame.h"
#include "sim/hang/names.h"

namespace sm100::sim {

using models::Mbarrier;

namespace {

/// Some warp of the CTA has waited on the array, or does.
bool waited_in(const WaitGraph& graph, const Cta& cta, const BarrierArray& array) {
  return std::any_of(cta.warps().begin(), cta.warps().end(),
                     [&](const auto& warp) { return !warp->use.empty() && use_of(*warp, array).waits > 0; }) ||
         std::any_of(graph.waits().begin(), graph.waits().end(),
                     [&](const Wait& o) { return o.cta == &cta && o.barrier.array == &array; });
}

uint64_t amount_of(const std::vector<Mbarrier::State::Share>& shares, int cta, int warp) {
  uint64_t all = 0;
  for (const Mbarrier::State::Share& s : shares)
    if (s.cta == cta && s.warp == warp) all += s.amount;
  return all;
}
/// Arrivals of a warp in one phase, the open one or the one before.
uint64_t most_in_a_phase(const Mbarrier::State& state, int cta, int warp) {
  return std::max(amount_of(state.arrived, cta, warp), amount_of(state.arrived_before, cta, warp));
}

}  // namespace

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

Cause doubled_arrivals_cause(const WaitGraph& graph, const Wait& w, const MbarrierState& word) {
  const auto& here = w.state->arrived;
  if (w.state->phase > 0 || word.pending == 0 || here.empty()) return {};
  const uint64_t once = here.front().amount;
  if (std::any_of(here.begin(), here.end(), [&](const auto& s) { return s.amount != once; })) return {};
  for (uint32_t r = 0; r < w.cta->cluster_ctas(); ++r) {
    Cta& other = *peer_slot(graph.slots(), *w.cta, r);
    if (&other == w.cta || other.linear_id() != w.cta->peer_id(r)) continue;
    const Mbarrier::State* state = other.context().mbarrier.find(w.state->offset);
    if (!state || state->phase > 1) continue;
    std::vector<Debt> twice;
    bool others_once = true;
    for (const auto& cta : graph.slots())
      for (const auto& warp : cta->warps()) {
        const uint64_t there = most_in_a_phase(*state, cta->linear_id(), warp->index);
        const bool missing = amount_of(here, cta->linear_id(), warp->index) == 0;
        if (there == 2 * once && missing)
          twice.push_back({.slot = cta, .cta = cta->linear_id(), .warp = warp->index, .arrivals = once});
        else
          others_once &= there <= once;
      }
    if (!others_once || twice.empty() || twice.size() * once != word.pending) continue;
    const int by = twice.front().cta;
    const std::string at = other.linear_id() == by ? "its own CTA" : fmt::format("CTA {}", other.linear_id());
    Cause cause{.certainty = 96,
                .text = fmt::format("{} of CTA {} has arrived on {} of {} twice and not on that of CTA {}: its "
                                    "arrivals go to the wrong CTA",
                                    twice.front().role(), by, text_of(w.barrier), at, w.cta->linear_id())};
    blame(cause, graph, w, twice);
    return cause;
  }
  return {};
}

}  // namespace sm100::sim
