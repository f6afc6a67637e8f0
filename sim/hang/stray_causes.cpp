// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/stray_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

namespace {

/// The barrier of the CTA has been armed for bytes, or has got some, in the open phase or the one before.
const Mbarrier::State* with_bytes(const Cta& cta, const BarrierArray& array, int stage) {
  const Mbarrier::State* state = cta.context().mbarrier.find(array.base.offset() + 8u * uint32_t(stage));
  const bool has = state && (state->expected_bytes > 0 || state->expected_before > 0 || !state->received.empty() ||
                             !state->received_before.empty());
  return has ? state : nullptr;
}

/// Who has armed it, else who has issued the copies that complete on it; nullptr: not known.
std::optional<models::Source> byte_source(const Mbarrier::State& state) {
  const uint64_t kept = std::min<uint64_t>(state.events, Mbarrier::State::kHistory);
  for (const auto kind : {models::MbarrierEventKind::expect_tx, models::MbarrierEventKind::complete_tx})
    for (uint64_t back = kept; back >= 1; --back) {
      const models::MbarrierEvent& e = state.history[(state.events - back) % Mbarrier::State::kHistory];
      if (e.kind == kind && e.source.warp >= 0) return e.source;
    }
  return std::nullopt;
}

}  // namespace

/// A stage of an array is armed and filled whose other stages never are, and the stage of the same number lacks its
/// bytes in the array that is: the wrong array's barrier was named.
Cause other_array_cause(const WaitGraph& graph, const Wait& w) {
  const BarrierArray& lacks = *w.barrier.array;
  const int stage = w.barrier.stage;
  if (lacks.stages < 2 || w.state->received_bytes > 0 || w.state->expected_bytes > 0) return {};
  int filled = 0;
  for (int s = 0; s < lacks.stages; ++s) filled += s != stage && with_bytes(*w.cta, lacks, s);
  if (filled == 0) return {};
  for (const BarrierArray& other : w.cta->kernel().barriers) {
    if (&other == &lacks || other.stages != lacks.stages) continue;
    const Mbarrier::State* const state = with_bytes(*w.cta, other, stage);
    if (!state) continue;
    bool alone = true;
    for (int s = 0; s < other.stages; ++s) alone &= s == stage || !with_bytes(*w.cta, other, s);
    const std::optional<models::Source> by = byte_source(*state);
    if (!alone || !by) continue;
    Cause cause{
        .certainty = 98,
        .text = fmt::format("{} arms {}[{}] and lets its copies complete there, where {} lacks them: for the "
                            "other stages it is {} that is armed (expect_tx)",
                            w.cta->kernel().role(by->warp), other.name, stage, text_of(w.barrier), lacks.name)};
    blame_source(cause, graph, w, *by);
    return cause;
  }
  return {};
}

std::string armed_instead(const Wait& w, std::optional<models::Source>& by) {
  for (const BarrierArray& other : w.cta->kernel().barriers) {
    if (&other == w.barrier.array || other.stages != w.barrier.array->stages) continue;
    const Mbarrier::State* const state = with_bytes(*w.cta, other, w.barrier.stage);
    const std::optional<models::Source> source = state ? byte_source(*state) : std::nullopt;
    // Who waits for the array as well hands nothing over by it.
    if (!source || source->cta != w.cta->linear_id() ||
        use_of(*w.cta->warps()[size_t(source->warp)], other).waits == 0)
      continue;
    by = source;
    return fmt::format("{} arms {}[{}] (expect_tx) and lets its copies complete there, on which it waits itself",
                       w.cta->kernel().role(source->warp), other.name, w.barrier.stage);
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
