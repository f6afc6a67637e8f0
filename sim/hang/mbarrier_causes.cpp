// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/mbarrier_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sim/compiled_place.h"
#include "sim/hang/blame.h"
#include "sim/hang/names.h"
#include "sim/hang/overcount.h"
#include "sim/hang/step_causes.h"
#include "sim/hang/stray_causes.h"
#include "sim/ptx/ptx_uses.h"
#include "sim/text.h"

namespace sm100::sim {

using models::Mbarrier;
using models::MbarrierEvent;
using models::MbarrierEventKind;

namespace {

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

/// Each copy to the barrier that the text of a PTX program has is among those of this phase.
bool every_copy_came(const Wait& w) {
  const PtxUses* uses = ptx_uses_of(w.cta->kernel());
  if (!uses || uses->signals_unknown()) return false;
  const auto& received = w.state->received;
  int copies = 0;
  for (const PtxUse* use : uses->of(*w.barrier.array)) {
    if (use->use.does != ptx::BarrierUse::Does::bytes) continue;
    ++copies;
    if (std::none_of(received.begin(), received.end(),
                     [&](const auto& share) { return place_of(share.loc).ptx.line == unsigned(use->line); }))
      return false;
  }
  return copies > 0;
}

Cause bytes_cause(const WaitGraph& graph, const Wait& w, const MbarrierState& word) {
  if (Cause c = strayed_bytes_cause(graph, w, word); c.certainty > 0) return c;
  if (Cause c = multicast_mask_cause(graph, w, word); c.certainty > 0) return c;
  if (word.pending != 0 || word.tx == 0) return {};
  const auto expected = int64_t(w.state->expected_bytes);
  const auto usual = int64_t(usual_bytes(graph.slots(), *w.cta, *w.state));
  const uint32_t copy = w.cta->observer().smallest_copy(w.cta->kernel(), *w.barrier.array);
  const bool may_lack_a_copy = usual == 0 && word.tx % kCopyGranule == 0 && !every_copy_came(w);
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
    for (const Mbarrier::State::Share& share : w.state->received)
      if (w.cta->cluster_ctas() > 1 && w.cta->observer().multicasts_to_itself(share.loc)) {
        cause.text = fmt::format(
            "expect_tx counts {} bytes more than the copies of this phase deliver, as of every fill like it; the "
            "multicast at {} names its own CTA alone, in each CTA of the cluster: its mask is wrong",
            grouped(word.tx), line_of(share.loc));
        blame_source(cause, graph, w, {.warp = int8_t(share.warp), .loc = share.loc, .cta = share.cta});
        break;
      }
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

/// The first waits for what the second has to fill before: of role code, rings of copies and MMAs alone.
bool hands_back(const Wait& w, const Wait& filled) {
  const int by = step_of(*w.barrier.array), from = step_of(*filled.barrier.array);
  return ptx_uses_of(w.cta->kernel()) ? from >= 0 && by > from : by == 1 && from == 0;
}

/// Nobody can have emptied what nobody has filled: MMAs read what copies bring, so of two that wait for each other
/// on barriers that nothing has come to, one for a commit and one for bytes, the first should not have waited.  For
/// rings without names; of named ones wrong_turn_cause knows more.
Cause nothing_to_empty_cause(const WaitGraph& graph, const Wait& w) {
  const BarrierArray& array = *w.barrier.array;
  const bool named = partner(w.cta->kernel(), array) && !ptx_uses_of(w.cta->kernel());
  if (!untouched(w) || named || step_of(array) < 1) return {};
  // Of a ring whose sides are known, a wait for the full side is right.
  if (partner(w.cta->kernel(), array) && !is_empty_side(w.cta->kernel(), array)) return {};
  // In a later lap it waits for the release of what it should have filled.
  if (use_of(w.warp(), array).waits > w.barrier.stage) return {};
  for (size_t i : w.on) {
    const Wait& other = graph.waits()[i];
    const bool mutual = std::find(other.on.begin(), other.on.end(), graph.index(w)) != other.on.end();
    if (!mutual || !untouched(other) || !hands_back(w, other)) continue;
    // The two sides of a ring have as many stages; who waits for something else has come behind the ring.
    if (other.barrier.array->stages != array.stages || other.barrier.stage != w.barrier.stage) continue;
    Cause cause{.certainty = 94, .text = first_lap_text(w)};
    blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
    cause.fault_loc = w.blocked.loc, cause.after_line = false;
    return cause;
  }
  return {};
}

/// Warpgroups that wait on the array have taken each fill once, together: they take turns.  Then the next fill;
/// else -1.
int64_t next_in_turns(const Wait& w) {
  const BarrierArray& array = *w.barrier.array;
  constexpr int kWarpsOfGroup = 4;
  std::map<int, int> waits;  // of each group
  int64_t last = -1;
  for (const auto& warp : w.cta->warps()) {
    const Warp::Use& use = use_of(*warp, array);
    if (use.waits == 0) continue;
    int& most = waits[warp->index / kWarpsOfGroup];
    most = std::max(most, use.waits);
    const int stage = int(use.waited_on - array.base.offset()) / 8;
    last = std::max(last, use.waited_phase * array.stages + stage);
  }
  int64_t all = 0;
  for (const auto& [group, n] : waits) all += n;
  return waits.size() > 1 && all == last + 1 ? all : -1;
}

/// Of the arrivals that a barrier has seen from its mbarrier.init on: the second of two by one warp at one line in
/// phases that follow each other, with nobody else's between them; nullptr: there is none, or they are not known.
const MbarrierEvent* doubled_arrival(const Mbarrier::State& state) {
  if (state.events > Mbarrier::State::kHistory) return nullptr;
  const MbarrierEvent* last = nullptr;
  for (uint64_t i = 0; i < state.events; ++i) {
    const MbarrierEvent& e = state.history[i];
    if (!e.arrives || (e.kind != MbarrierEventKind::arrive && e.kind != MbarrierEventKind::expect_tx)) continue;
    const bool again = last && last->source.warp >= 0 && last->source.warp == e.source.warp &&
                       last->source.cta == e.source.cta && line_of(last->source.loc) == line_of(e.source.loc);
    if (again && e.phase == last->phase + 1) return &e;
    last = &e;
  }
  return nullptr;
}

/// A first wait comes too late for its phase, which its parity does not name any more: one fill completes several.
Cause lapped_cause(const WaitGraph& graph, const Wait& w) {
  if (w.state->phase < 2 || ptx_uses_of(w.cta->kernel())) return {};
  for (const auto& warp : w.cta->warps())  // of roles whose warps take turns
    if (w.cta->kernel().role(warp->index) == w.role && use_of(*warp, *w.barrier.array).waits > w.barrier.stage)
      return {};
  const uint32_t count = decode_mbarrier(w.state->word).expected;
  Cause cause{.certainty = 94,
              .text = fmt::format("{} phases of {} have completed before the first wait of {} there, which was for "
                                  "phase 0: ",
                                  w.state->phase, text_of(w.barrier), w.role)};
  const MbarrierEvent* again = count == w.barrier.array->count ? doubled_arrival(*w.state) : nullptr;
  if (again) {
    blame_source(cause, graph, w, again->source);
    cause.text += fmt::format("{} arrives twice where its kernel's table counts {}",
                              cause.fault_role.empty() ? "a warp" : cause.fault_role, count);
  } else {
    cause.text += fmt::format("its count, {}, is too low, or arrivals are doubled", count);
    blame_init(cause, graph, w);
  }
  return cause;
}

/// A cursor walks the stages in order and its parity flips with every lap: this wait breaks that.
Cause wrong_turn_cause(const WaitGraph& graph, const Wait& w) {
  const BarrierArray& array = *w.barrier.array;
  if (!partner(w.cta->kernel(), array)) return {};
  const bool full = !is_empty_side(w.cta->kernel(), array);
  const int waits = use_of(w.warp(), array).waits, stage = waits % array.stages, lap = waits / array.stages;
  const uint32_t parity = uint32_t(lap & 1) ^ (full ? 0u : 1u);  // a producer's first lap waits for parity 1
  // How others' code walks a ring is known of its first lap alone.
  if (ptx_uses_of(w.cta->kernel()) && (lap > 0 || stage != w.barrier.stage)) return {};
  if (const int64_t next = full ? next_in_turns(w) : -1;
      next >= 0 && next % array.stages == w.barrier.stage && uint32_t(next / array.stages & 1) == w.blocked.parity)
    return {};
  Cause cause;
  if (stage != w.barrier.stage) {
    cause = {.certainty = 92,
             .text = fmt::format("{} waits for stage {} after {} waits on {}; its next stage is {}: it skipped or "
                                 "repeated a wait",
                                 w.role, w.barrier.stage, waits, array.name, stage)};
  } else if (parity == w.blocked.parity) {
    return full && lap == 0 ? lapped_cause(graph, w) : Cause{};
  } else if (!full && lap == 0) {
    cause = {.certainty = 94, .text = first_lap_text(w)};
  } else {
    cause = {.certainty = 94,
             .text = fmt::format("{} waits for parity {} in lap {} of {}; that lap's parity is {}", w.role,
                                 w.blocked.parity, lap, array.name, parity)};
  }
  blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
  cause.fault_loc = w.blocked.loc, cause.after_line = false;
  return cause;
}

/// Waits of one thread on one barrier are for one phase after the other, so their parities alternate: a phase that
/// has completed meanwhile was left out.  Where warps take turns each leaves out the others'.
Cause same_parity_cause(const WaitGraph& graph, const Wait& w) {
  const BarrierArray& array = *w.barrier.array;
  const uint32_t offset = w.state->offset;
  const Warp::Use& use = use_of(w.warp(), array);
  if (!use.has_waited_on(offset) || use.last_parity(offset) != w.blocked.parity) return {};
  for (const auto& warp : w.cta->warps()) {
    if (warp->use.empty()) continue;
    const Warp::Use& other = use_of(*warp, array);
    if (other.has_waited_on(offset) && other.last_parity(offset) != w.blocked.parity) return {};
  }
  Cause cause{.certainty = 94,
              .text = fmt::format("{} waits for parity {} of {} again, as in its wait before, and phase {} has "
                                  "completed in between: the parity has not been flipped, or a wait was left out",
                                  w.role, w.blocked.parity, text_of(w.barrier), w.state->phase - 1)};
  blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
  cause.fault_loc = w.blocked.loc, cause.after_line = false;
  return cause;
}

/// "mma has waited for stages 0-1 of 3 of input_full, again and again": of a cursor that never comes to the stage;
/// empty: it has.
std::string short_lap_text(const Debt& d, const BarrierArray& waited_for, int stage) {
  const Warp::Use& use = use_of(d.state(), waited_for);
  std::vector<int> stages;
  for (int s = 0; s < waited_for.stages; ++s)
    if (use.has_waited_on(waited_for.base.offset() + 8u * uint32_t(s))) stages.push_back(s);
  const bool all_below = !stages.empty() && stages.back() == int(stages.size()) - 1;
  if (waited_for.stages > 32 || !all_below || stage < int(stages.size()) || use.waits <= int(stages.size()))
    return {};
  return fmt::format(
      "{} has waited for stage{} of {}, which has {} stages, {} times: its stage index begins again too "
      "early, and never comes to stage {}",
      d.role(), stages.size() == 1 ? " 0" : fmt::format("s 0-{}", stages.back()), waited_for.name,
      waited_for.stages, use.waits, stage);
}

/// "load begins with stage 1 of empty ...": of a role whose first step is not the ring's first, and that the stages
/// before it therefore lack in the first lap; empty: it is not that.
std::string late_begin_text(const Wait& w, const Debt& d, const BarrierArray& waited_for, bool releases) {
  const Warp::Use& use = use_of(d.state(), waited_for);
  if (use.waits == 0 || use.waits >= waited_for.stages || w.state->phase != 0) return {};
  const int first = int(use.first_waited_on - waited_for.base.offset()) / 8;
  if (w.barrier.stage >= first) return {};
  for (const auto& warp : d.slot->warps())  // others may take these stages
    if (warp->index != d.warp && use_of(*warp, waited_for).waits > 0) return {};
  return fmt::format(
      "{} begins with stage {} of {}, so nobody {} stage {} in the first lap: its first step is left out (a k loop "
      "that begins at {}?), or its stage index does not begin at 0",
      d.role(), first, waited_for.name, releases ? "releases" : "fills", w.barrier.stage, first);
}

/// The same role of the CTA that waits has had more tiles; empty: it has not, or nobody knows.
std::string fewer_tiles_text(const Wait& w, const Debt& d) {
  if (d.slot == w.cta || !d.exited()) return {};
  const auto tiles_of = [](const Warp& warp, int cta) {
    return std::count_if(warp.tiles.begin(), warp.tiles.end(), [&](const Warp::Tile& t) { return t.cta == cta; });
  };
  const auto own = tiles_of(d.state(), d.cta);
  for (const auto& warp : w.cta->warps())
    if (const auto others = tiles_of(*warp, w.cta->linear_id());
        w.cta->kernel().role(warp->index) == d.role() && others > own)
      return fmt::format("; it has had {} tile{}, and {} of CTA {} has had {}: it has left one out", own,
                         own == 1 ? "" : "s", d.role(), w.cta->linear_id(), others);
  return {};
}

/// Another array with as many stages, of which the same one has been signalled, by others, and nobody waits for it;
/// nullptr: there is none.
const BarrierArray* unheard(const WaitGraph& graph, const Wait& w) {
  for (const BarrierArray& other : w.cta->kernel().barriers) {
    if (&other == w.barrier.array || other.stages != w.barrier.array->stages || lists(other.arrives, w.role))
      continue;
    const Mbarrier::State* state =
        w.cta->context().mbarrier.find(other.base.offset() + 8u * uint32_t(w.barrier.stage));
    const bool signalled = state && (state->phase > 0 || !state->arrived.empty() || !state->received.empty());
    const bool waited =
        std::any_of(w.cta->warps().begin(), w.cta->warps().end(),
                    [&](const auto& warp) { return !warp->use.empty() && use_of(*warp, other).waits > 0; }) ||
        std::any_of(graph.waits().begin(), graph.waits().end(),
                    [&](const Wait& o) { return o.cta == w.cta && o.barrier.array == &other; });
    if (signalled && !waited) return &other;
  }
  return nullptr;
}

std::string passed_text(const WaitGraph& graph, const Wait& w, const Debt& d) {
  const BarrierArray& array = *w.barrier.array;
  const std::string_view arrival = arrival_of(array, d.role());
  const std::string who = d.role() + of_cta(w, d.cta), barrier = text_of(w.barrier) + of_cta(w, w.cta->linear_id());
  const BarrierArray* other = partner(w.cta->kernel(), array);
  const bool empty = is_empty_side(w.cta->kernel(), array);
  const int waits = use_of(d.state(), array).waits;
  if (d.bytes > 0 || array.count == 0)
    return fmt::format("{} {} without a copy of {} bytes into stage {}: {} misses them{}", who,
                       d.exited() ? "has exited" : "has gone on", grouped(int64_t(d.bytes)), w.barrier.stage,
                       barrier, fewer_tiles_text(w, d));
  if (d.exited())
    return fmt::format("{} has exited without its {} on {}{}", who, arrival, barrier, last_box_text(graph, w, d));
  if (d.slot == w.cta && std::find(w.warps.begin(), w.warps.end(), d.warp) != w.warps.end() && waits >= 0) {
    if (const BarrierArray* awaited = unheard(graph, w))
      return fmt::format(
          "{} waits for {}, which its own {} behind this wait is to complete: it waits for the wrong "
          "barrier; nobody waits for {}[{}], which {} completes",
          who, barrier, arrival, awaited->name, w.barrier.stage, awaited->arrives);
    return fmt::format("{} waits for its own {} on {}, which is missing", who, arrival, barrier);
  }
  if (!other) return fmt::format("{} has gone on without its {} on {}", who, arrival, barrier);
  if (std::string text = short_lap_text(d, *other, w.barrier.stage); !text.empty()) return text;
  if (std::string text = late_begin_text(w, d, *other, empty); !text.empty()) return text;
  if (empty)
    return fmt::format("{} has passed {}[{}] phase {} without releasing it: its {} on {} is missing", who,
                       other->name, w.barrier.stage, w.state->phase, arrival, barrier);
  return fmt::format("{} has acquired stage {} for phase {} without filling it: its {} on {} is missing{}", who,
                     w.barrier.stage, w.state->phase, arrival, barrier, last_box_text(graph, w, d));
}

/// Someone who owes is past the point of delivery.
Cause passed_cause(const WaitGraph& graph, const Wait& w, const MbarrierState& word) {
  std::vector<Debt> passed;
  for (const Debt& d : w.debts.all)
    if (graph.has_passed(w, d)) passed.push_back(d);
  if (passed.empty()) return {};
  const Debt& first = passed.front();
  if (const Cause left_out = left_out_cause(graph, w, passed); left_out.certainty > 0) return left_out;
  if (const Cause stray = wrong_cta_cause(graph, w, passed); stray.certainty > 0) return stray;
  Cause cause{.certainty = w.debts.certain ? 80 : 70, .text = passed_text(graph, w, first)};
  if (first.exited()) --cause.certainty;
  if (word.pending > 0 && word.tx < 0) {
    cause.certainty = 95;
    cause.text = fmt::format("{} bytes were delivered to a phase that nobody armed: the {} of {}{} is missing",
                             grouped(-word.tx), w.barrier.array->arrives_with, first.role(), of_cta(w, first.cta));
  }
  blame(cause, graph, w, passed);
  return cause;
}

/// Who brought the bytes of a phase that nobody arms, of a PTX program without an instruction that would.
Cause unarmed_cause(const WaitGraph& graph, const Wait& w, int64_t bytes) {
  Cause cause{
      .certainty = 99,
      .text = fmt::format(
          "{} bytes were delivered to a phase that nobody armed, and no warp may come to an instruction that "
          "arrives on {}: an mbarrier.arrive.expect_tx is missing",
          grouped(bytes), w.barrier.array->name)};
  const Mbarrier::State::Share& copies = w.state->received.front();
  for (uint32_t r = 0; r < w.cta->cluster_ctas(); ++r)
    if (w.cta->peer_id(r) == copies.cta && copies.warp >= 0)
      blame(cause, graph, w,
            {{.slot = peer_slot(graph.slots(), *w.cta, r),
              .cta = copies.cta,
              .warp = copies.warp,
              .loc = copies.loc,
              .bytes = 1}});
  return cause;
}

/// Of a PTX program: nothing that its warps may come to arrives on the barrier.
Cause no_signal_cause(const WaitGraph& graph, const Wait& w, const MbarrierState& word) {
  const BarrierArray& array = *w.barrier.array;
  const PtxUses* uses = ptx_uses_of(w.cta->kernel());
  if (!uses || uses->signals_unknown() || word.pending == 0) return {};
  const std::vector<const PtxUse*> of = uses->of(array);
  if (std::any_of(of.begin(), of.end(), [](const PtxUse* use) { return use->use.arrives(); })) return {};
  if (word.tx < 0 && !w.state->received.empty()) return unarmed_cause(graph, w, -word.tx);
  Cause cause{.certainty = 99,
              .text = fmt::format("no warp of the program may come to an instruction that arrives on {}",
                                  array.stages > 1 ? array.name : text_of(w.barrier))};
  std::optional<models::Source> armed_by;
  if (const std::string instead = armed_instead(w, armed_by); !instead.empty()) {
    cause.text += ": " + instead;
    blame_source(cause, graph, w, *armed_by);
    return cause;
  }
  // Whoever waits for what the waiting role fills, and not for this barrier, is to hand it back; rather those who
  // hand nothing else back to it.
  struct Consumers {
    const BarrierArray* filled;
    std::vector<Debt> warps;
  };
  std::vector<Consumers> all;
  bool rather = false;
  for (const BarrierArray& other : w.cta->kernel().barriers) {
    if (&other == &array || !lists(other.arrives, w.role)) continue;
    Consumers consumers{&other, {}};
    for (const auto& warp : w.cta->warps()) {
      const std::string& role = w.cta->kernel().role(warp->index);
      if (role != w.role && lists(other.waits, role) && !lists(array.waits, role))
        consumers.warps.push_back({.slot = w.cta, .cta = w.cta->linear_id(), .warp = warp->index});
    }
    if (consumers.warps.empty()) continue;
    const std::string& role = consumers.warps.front().role();
    const bool hands_back = std::any_of(
        w.cta->kernel().barriers.begin(), w.cta->kernel().barriers.end(),
        [&](const BarrierArray& b) { return &b != &array && lists(b.arrives, role) && lists(b.waits, w.role); });
    if (hands_back && rather) continue;
    if (!hands_back && !rather) all.clear(), rather = true;
    all.push_back(std::move(consumers));
  }
  for (const Consumers& consumers : all)
    cause.text += fmt::format("{}{}, which waits for {}, has none to hand it back with",
                              &consumers == &all.front() ? ": " : "; or ", consumers.warps.front().role(),
                              consumers.filled->name);
  if (!all.empty()) {
    blame(cause, graph, w, all.front().warps);
    cause.fault_loc = use_of(all.front().warps.front().state(), *all.front().filled).waited,
    cause.after_line = true;
  }
  return cause;
}

/// What fills the stage whose release is waited for; of a pair, the leader's barrier alone is filled.
struct Filled {
  const BarrierArray* array = nullptr;
  const Mbarrier::State* state = nullptr;
};
Filled filled_side(const WaitGraph& graph, const Wait& w) {
  const BarrierArray* full = partner(w.cta->kernel(), *w.barrier.array);
  if (!full || full->stages != w.barrier.array->stages || !is_empty_side(w.cta->kernel(), *w.barrier.array))
    return {};
  Cta* leader = w.cta->tcgen05_group == 2 ? peer_slot(graph.slots(), *w.cta, w.cta->cluster_rank() & ~1u) : w.cta;
  return {full, leader->context().mbarrier.find(full->base.offset() + 8u * uint32_t(w.barrier.stage))};
}

std::string times(uint64_t n) { return n == 1 ? "once" : fmt::format("{} times", n); }

/// Every fill has been released, and none is under way: who waits for one more release waits for a fill of its own
/// that it has not made.
Cause nothing_to_release_cause(const WaitGraph& graph, const Wait& w) {
  const Filled filled = filled_side(graph, w);
  if (!filled.state || w.state->phase == 0 || filled.state->phase != w.state->phase ||
      !lists(filled.array->arrives, w.role))
    return {};
  const MbarrierState word = decode_mbarrier(filled.state->word);
  if (word.pending != word.expected || word.tx != 0) return {};
  // Who waits for the same stage to be filled misses a fill that may have been made without a sign.
  const uint32_t full = filled.state->offset;
  if (std::any_of(graph.waits().begin(), graph.waits().end(), [&](const Wait& other) {
        return other.on_mbarrier() && other.barrier.array == filled.array && uint32_t(other.state->offset) == full;
      }))
    return {};
  Cause cause{.certainty = 93,
              .text = fmt::format("{} waits for the release of a fill that it has not made: {} has been filled and "
                                  "released {}, so the parity of this wait is wrong, or it waits once too often",
                                  w.role, text_of(w.barrier), times(uint64_t(w.state->phase)))};
  blame(cause, graph, w, {{.slot = w.cta, .cta = w.cta->linear_id(), .warp = w.warps.front()}});
  cause.fault_loc = w.blocked.loc, cause.after_line = false;
  return cause;
}

/// More releases than fills: someone releases what it has not waited for.
Cause early_release_cause(const WaitGraph& graph, const Wait& w) {
  const Filled filled = filled_side(graph, w);
  if (!filled.state || filled.state->phase >= w.state->phase) return {};
  Cause cause{.certainty = 85,
              .text = fmt::format("{} has been released {} but {}: {} releases it without having waited for {}",
                                  text_of(w.barrier), times(uint64_t(w.state->phase)),
                                  filled.state->phase == 0 ? std::string("never filled")
                                                           : "filled " + times(uint64_t(filled.state->phase)),
                                  w.barrier.array->arrives, filled.array->name)};
  const Mbarrier::State& state = *w.state;
  for (uint64_t i = state.events - std::min<uint64_t>(state.events, Mbarrier::State::kHistory); i < state.events;
       ++i) {  // who completed the phase that no fill belongs to
    const MbarrierEvent& e = state.history[i % Mbarrier::State::kHistory];
    if (e.arrives && e.phase == filled.state->phase && e.source.warp >= 0) blame_source(cause, graph, w, e.source);
  }
  return cause;
}

}  // namespace

Cause mbarrier_cause(const WaitGraph& graph, const Wait& w) {
  const MbarrierState word = decode_mbarrier(w.state->word);
  const BarrierArray& array = *w.barrier.array;
  if (word.expected != array.count) {
    Cause cause{.certainty = 110,
                .text = fmt::format(
                    "{} was initialised for {} arrivals per phase; {} {}", text_of(w.barrier), word.expected,
                    ptx_uses_of(w.cta->kernel()) ? "the first of the array for" : "the kernel's barrier table says",
                    array.count)};
    blame_init(cause, graph, w);
    return cause;
  }
  if (copy_in_flight(graph, w)) return {.certainty = 1, .text = "copies for it are in flight"};
  if (Cause c = other_array_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = no_signal_cause(graph, w, word); c.certainty > 0) return c;
  if (Cause c = commit_mask_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = overcount_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = doubled_arrivals_cause(graph, w, word); c.certainty > 0) return c;
  if (Cause c = bytes_cause(graph, w, word); c.certainty > 0) return c;
  if (Cause c = passed_cause(graph, w, word); c.certainty > 90) return c;
  if (Cause c = wrong_turn_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = same_parity_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = nothing_to_empty_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = nothing_to_release_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = early_release_cause(graph, w); c.certainty > 0) return c;
  if (Cause c = step_too_many_cause(graph, w); c.certainty > 0) return c;
  return passed_cause(graph, w, word);
}

}  // namespace sm100::sim
