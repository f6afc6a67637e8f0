// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/stray_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/hang/blame.h"
#include "sim/hang/debts.h"
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

/// Lines of a cluster's copies to an array, each with the tensor that its last box is of.
struct CopyLine {
  Loc loc{};
  uint64_t tensor = 0;
  models::Source by{};
};

std::vector<CopyLine> copy_lines(const WaitGraph& graph, const Wait& w) {
  std::vector<CopyLine> lines;
  for (uint32_t r = 0; r < w.cta->cluster_ctas(); ++r) {
    const Cta& cta = *peer_slot(graph.slots(), *w.cta, r);
    if (&cta.kernel() != &w.cta->kernel() || cta.linear_id() != w.cta->peer_id(r)) return {};
    for (const auto& warp : cta.warps())
      for (const Warp::LastBox& box : use_of(*warp, *w.barrier.array).boxes) {
        if (box.tensor == 0 || line_of(box.loc).empty()) continue;
        const auto same = std::find_if(lines.begin(), lines.end(), [&](const CopyLine& l) {
          return line_of(l.loc) == line_of(box.loc) && l.loc.column() == box.loc.column();
        });
        if (same == lines.end())
          lines.push_back(
              {box.loc, box.tensor, {.warp = int8_t(warp->index), .loc = box.loc, .cta = cta.linear_id()}});
      }
  }
  return lines;
}

std::string ranks_text(uint16_t ranks) {
  std::string text;
  for (int r = 0; r < 16; ++r)
    if (ranks >> r & 1) text += fmt::format("{}{}", text.empty() ? "" : ", ", r);
  return text;
}

}  // namespace

Cause multicast_mask_cause(const WaitGraph& graph, const Wait& w, const MbarrierState& word) {
  const uint32_t ctas = w.cta->cluster_ctas();
  if (ctas == 1 || word.pending != 0 || word.tx <= 0 || w.state->phase > 0) return {};
  const std::vector<CopyLine> lines = copy_lines(graph, w);
  const auto mask = [&](uint32_t r, const CopyLine& l) {
    return w.cta->observer().multicasts_of(w.cta->peer_id(r), l.loc);
  };
  for (const CopyLine& l : lines) {
    uint16_t all = 0;
    for (uint32_t r = 0; r < ctas; ++r) all |= mask(r, l);
    const bool received =
        std::any_of(w.state->received.begin(), w.state->received.end(),
                    [&](const Mbarrier::State::Share& s) { return line_of(s.loc) == line_of(l.loc); });
    if (all == 0 || received || all >> w.cta->cluster_rank() & 1) continue;
    Cause cause{
        .certainty = 98,
        .text = fmt::format("the multicasts at {} have reached rank{} {} of the cluster's {} alone: their masks "
                            "leave out CTA {}, rank {}, which misses {} bytes",
                            line_of(l.loc), all & (all - 1) ? "s" : "", ranks_text(all), ctas, w.cta->linear_id(),
                            w.cta->cluster_rank(), grouped(word.tx))};
    blame_source(cause, graph, w, l.by);
    return cause;
  }
  for (const CopyLine& l : lines) {
    bool without_own = true;  // the CTA that copies is in no mask
    for (uint32_t r = 0; r < ctas; ++r) without_own &= mask(r, l) != 0 && !(mask(r, l) >> r & 1);
    if (!without_own) continue;
    Cause cause{
        .certainty = 98,
        .text = fmt::format("the multicast at {} leaves out the CTA that issues it, in each CTA of the cluster "
                            "(ranks {} in CTA {}): its mask is wrong, and {} bytes are missing",
                            line_of(l.loc), ranks_text(mask(w.cta->cluster_rank(), l)), w.cta->linear_id(),
                            grouped(word.tx))};
    blame_source(cause, graph, w, l.by);
    return cause;
  }
  // Who gets the same rows of both operands has the same tile.
  for (size_t i = 0; i < lines.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (lines[i].tensor == lines[j].tensor) continue;
      bool same = true;
      uint16_t one = 0;
      for (uint32_t r = 0; r < ctas && same; ++r) {
        one = mask(r, lines[i]);
        same = one != 0 && one == mask(r, lines[j]) && (one & (one - 1)) != 0 && one != (1u << ctas) - 1;
      }
      if (!same) continue;
      one = mask(w.cta->cluster_rank(), lines[i]);
      Cause cause{
          .certainty = 98,
          .text = fmt::format("the multicasts at {} and at {} bring different tensors and name the same "
                              "CTAs, ranks {} in CTA {}: these would have the same tile; one of the two "
                              "has the mask, and the slice, of the other",
                              line_of(lines[j].loc), line_of(lines[i].loc), ranks_text(one), w.cta->linear_id())};
      blame_source(cause, graph, w, lines[i].by);
      return cause;
    }
  return {};
}

Cause commit_mask_cause(const WaitGraph& graph, const Wait& w) {
  const uint32_t ctas = w.cta->cluster_ctas();
  const auto group = uint32_t(w.cta->tcgen05_group == 2 ? 2 : 1);
  if (w.debts.overcounted == 0 || ctas <= group || w.debts.came.empty()) return {};
  for (const Debt& d : w.debts.came) {
    const uint16_t reached = use_of(d.state(), *w.barrier.array).committed_to;
    const uint32_t rank = d.slot->cluster_rank();
    const uint32_t own = group == 2 ? 3u << (rank & ~1u) : 1u << rank;
    if (d.exited() || reached == 0 || (reached & ~own) != 0) return {};
  }
  const Debt* first = &w.debts.came.front();
  for (const Debt& d : w.debts.came)
    if (d.slot == w.cta) first = &d;
  Cause cause{.certainty = 94,
              .text = fmt::format(
                  "{} lacks arrivals of tcgen05.commit, {} of them: each commit to it by a mask has reached "
                  "{} alone, of the {} CTAs of the cluster (bits {:#x} in CTA {}): the mask leaves "
                  "out those that share what it hands back, or the count, {}, is too high",
                  text_of(w.barrier), w.debts.overcounted, group == 2 ? "its own pair" : "its own CTA", ctas,
                  use_of(first->state(), *w.barrier.array).committed_to, first->cta,
                  decode_mbarrier(w.state->word).expected)};
  blame(cause, graph, w, {*first});
  return cause;
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
