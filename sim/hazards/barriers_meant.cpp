// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/barriers_meant.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sim/hang/debts.h"
#include "sim/hang/names.h"
#include "sim/ptx/ptx_uses.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

bool text_has(const PtxUses* uses, const BarrierArray& array, int warp, bool commits) {
  return uses && std::any_of(uses->all.begin(), uses->all.end(), [&](const PtxUse& use) {
           return (use.warps >> warp & 1) && names_barrier(use.use, array) &&
                  (commits ? use.use.does == ptx::BarrierUse::Does::commit : use.use.waits());
         });
}

}  // namespace

std::string barrier_text(const Kernel& kernel, uint32_t offset) {
  const BarrierName name = barrier_name(kernel, offset);
  return name.array ? fmt::format("{}[{}]", name.array->name, name.stage) : "";
}

std::string release_text(const Kernel& kernel, uint32_t full_offset) {
  const BarrierName full = barrier_name(kernel, full_offset);
  if (!full.array) return "";
  if (const std::string_view name = full.array->name; name.ends_with("_full"))
    return fmt::format("{}_empty[{}]", name.substr(0, name.size() - 5), full.stage);
  const BarrierArray* back = ptx_uses_of(kernel) ? partner(kernel, *full.array) : nullptr;
  return back ? fmt::format("{}[{}]", back->name, full.stage) : "";
}

const BarrierArray* commit_array(const Kernel& kernel, int issuer, int reader, const Warp* waits) {
  const PtxUses* uses = ptx_uses_of(kernel);
  std::vector<const BarrierArray*> meant;
  for (const BarrierArray& array : kernel.barriers) {
    const bool commits =
        (lists(array.arrives_with, "tcgen05.commit") && lists(array.arrives, kernel.role(issuer))) ||
        text_has(uses, array, issuer, true);
    if (commits && (lists(array.waits, kernel.role(reader)) || text_has(uses, array, reader, false)))
      meant.push_back(&array);
  }
  if (meant.size() > 1 && waits)
    std::erase_if(meant, [&](const BarrierArray* array) { return use_of(*waits, *array).fresh.on == 0; });
  return meant.size() == 1 ? meant.front() : nullptr;
}

namespace {

/// "consumer (warps 0-3) of CTA 3, mma (warp 6) of CTA 2".
std::string arrivers_text(const Kernel& kernel, const std::vector<models::Mbarrier::State::Share>& shares) {
  std::map<std::pair<int, std::string>, std::vector<int>> by;
  for (const auto& share : shares)
    if (share.warp >= 0) by[{share.cta, kernel.role(share.warp)}].push_back(share.warp);
  std::string text;
  for (const auto& [who, warps] : by)
    text += fmt::format("{}{} of CTA {}", text.empty() ? "" : ", ", warps_text(who.second, warps), who.first);
  return text;
}

}  // namespace

namespace {

/// The array by which `reader` hands accumulators back to `writer`; nullptr: none, or more than one may be meant.
const BarrierArray* accumulator_release(const Kernel& kernel, const std::string& reader,
                                        const std::string& writer) {
  const BarrierArray* release = nullptr;
  for (const BarrierArray& array : kernel.barriers) {
    const BarrierArray* full = partner(kernel, array);
    if (!full || array.arrives != reader || !lists(array.waits, writer) || !lists(full->arrives, writer) ||
        !lists(full->waits, reader) || !lists(full->arrives_with, "tcgen05.commit"))
      continue;
    if (release) return nullptr;
    release = &array;
  }
  return release;
}

bool overwrites_what_is_read(const Access& earlier, const Access& later) {
  return earlier.kind == AccessKind::tmem_load && later.kind == AccessKind::accumulator;
}

}  // namespace

std::string release_not_awaited(const Kernel& kernel, const Warp& by, const Access& earlier, const Access& later) {
  if (!overwrites_what_is_read(earlier, later) || ptx_uses_of(kernel)) return {};
  const std::string &reader = kernel.role(earlier.by.warp), &writer = kernel.role(by.index);
  const BarrierArray* release = accumulator_release(kernel, reader, writer);
  if (!release) return {};
  const Warp::Use& use = use_of(by, *release);
  if (use.waits == 0)
    return fmt::format("{} has never waited for {}, where {} arrives", writer, release->name, reader);
  const models::Mbarrier::State* const state = by.cta.context().mbarrier.find(use.waited_on);
  const uint64_t kept = state ? std::min<uint64_t>(state->events, models::Mbarrier::State::kHistory) : 0;
  for (uint64_t back = 1; back <= kept; ++back) {
    const models::MbarrierEvent& e = state->history[(state->events - back) % models::Mbarrier::State::kHistory];
    if (!e.arrives || e.phase != use.waited_phase || e.time >= earlier.cycle || e.source.warp != earlier.by.warp ||
        e.source.cta != earlier.by.cta)
      continue;
    return fmt::format(
        "{} (warp {}) has arrived on {} at cycle {}, before it reads these columns at cycle {}: it hands "
        "the accumulator back too early{}",
        reader, earlier.by.warp, barrier_text(kernel, use.waited_on), grouped(int64_t(e.time)),
        grouped(int64_t(earlier.cycle)), e.source.loc.line() > 0 ? " (" + line_of(e.source.loc) + ")" : "");
  }
  return {};
}

PhaseWithout phase_without(const Kernel& kernel, const Warp& by, const Access& earlier, const Access& later) {
  const bool released_by_warp = (earlier.kind == AccessKind::generic && !earlier.write) ||
                                earlier.kind == AccessKind::mma_operand ||
                                earlier.kind == AccessKind::wgmma_operand;
  const bool accumulator = overwrites_what_is_read(earlier, later);
  const BarrierName full = barrier_name(kernel, later.barrier);
  if (ptx_uses_of(kernel) || (!accumulator && (!released_by_warp || !later.barrier || !full.array))) return {};
  const BarrierArray* empty = accumulator
                                  ? accumulator_release(kernel, kernel.role(earlier.by.warp), kernel.role(by.index))
                                  : partner(kernel, *full.array);
  if (!empty || !lists(empty->arrives, kernel.role(earlier.by.warp))) return {};
  const Warp::Use& use = use_of(by, *empty);
  const uint32_t offset = accumulator ? use.waited_on : empty->base.offset() + 8u * uint32_t(full.stage);
  const models::Mbarrier::State* state = by.cta.context().mbarrier.find(offset);
  if (!state || use.waits == 0 || use.waited_on != offset || use.waited_phase < 0 ||
      use.waited_phase != state->phase - 1)
    return {};
  uint64_t arrivals = 0, most = 0, least = UINT64_MAX;
  for (const auto& share : state->arrived_before) {
    if (share.cta == earlier.by.cta && share.warp == earlier.by.warp) return {};
    arrivals += share.amount, most = std::max(most, share.amount), least = std::min(least, share.amount);
  }
  if (arrivals == 0) return {};
  const std::string barrier = barrier_text(kernel, offset);
  const uint32_t count = decode_mbarrier(state->word).expected;
  const bool doubled = most > least || (most > 1 && most % 32 != 0);  // lanes of a warp may all arrive
  // Who has nothing of this CTA's copies has nothing to hand back to it.  The MMAs of a pair read what either of
  // the two has, and one of them commits: for a CTA its neighbour counts too.
  const uint16_t reached = accumulator ? uint16_t{0} : by.cta.observer().multicasts_of(by.cta.linear_id());
  for (uint32_t r = 0; reached != 0 && r < by.cta.cluster_ctas(); ++r)
    for (const auto& share : state->arrived_before)
      if (share.cta == by.cta.peer_id(r) && r / 2 != by.cta.cluster_rank() / 2 && !(reached >> (r & ~1u) & 3))
        return {
            .message = fmt::format("{} completed phase {} without its arrival, and with one of {} of CTA {}, which "
                                   "no copy of this CTA reaches",
                                   barrier, use.waited_phase, kernel.role(share.warp), share.cta),
            .who = fmt::format("phase {} of {} had {} arrivals, of {}", use.waited_phase, barrier, arrivals,
                               arrivers_text(kernel, state->arrived_before)),
            .mend = fmt::format("wrong: the mask of the tcgen05.commit, or the CTA of the arrival, of {} of CTA {}",
                                kernel.role(share.warp), share.cta)};
  return {.message = fmt::format("{} completed phase {} without its arrival", barrier, use.waited_phase),
          .who = fmt::format("phase {} of {} had {} arrival{}, of {}{}", use.waited_phase, barrier, arrivals,
                             arrivals == 1 ? "" : "s", arrivers_text(kernel, state->arrived_before),
                             most > least ? ", of which one arrived more than once"
                             : doubled    ? ", which arrived more than once each"
                                          : ""),
          .mend = doubled ? fmt::format(
                                "wrong: arrivals on {} that are doubled complete the phase, or its count, {}, is "
                                "too low",
                                empty->name, count)
                          : fmt::format("wrong: the count of {}, {}, is too low for all who use {}", empty->name,
                                        count, accumulator ? "an accumulator" : "a stage")};
}

std::string ahead_of_others(const Kernel& kernel, const Warp& reader, uint32_t full,
                            const std::function<bool(int id)>& has_joined) {
  const BarrierName name = barrier_name(kernel, full);
  const auto array = name.array ? size_t(name.array - kernel.barriers.data()) : reader.use.size();
  if (array >= reader.use.size() || reader.use[array].fresh.on == 0) return {};
  const int first = barrier_name(kernel, reader.use[array].first_waited_on).stage;
  const std::string& role = kernel.role(reader.index);
  constexpr int kWarpsOfGroup = 4;
  bool others = false;
  for (int w = 0; w < kernel.warps; ++w)
    others |= kernel.role(w) == role && w / kWarpsOfGroup != reader.index / kWarpsOfGroup;
  if (first == 0 || !others) return {};
  std::string missed;
  for (const NamedBarrier& b : kernel.named_barriers)
    if (lists(b.roles, role) && !has_joined(b.id))
      missed += fmt::format("{}named barrier {} ({})", missed.empty() ? "" : ", ", b.id, b.name);
  return fmt::format(
      "; its first wait on the ring is for stage {}: it has stepped over fills that other warps of its role take, "
      "and nothing has held it back until it is its turn{}",
      first, missed.empty() ? "" : fmt::format(" (it has not been at {})", missed));
}

std::string waits_for_its_own(const Kernel& kernel, const Warp& filler, uint32_t full) {
  const BarrierName name = barrier_name(kernel, full);
  const auto array = name.array ? size_t(name.array - kernel.barriers.data()) : filler.use.size();
  if (array >= filler.use.size() || filler.use[array].waits == 0) return {};
  const Warp::Use& use = filler.use[array];
  bool none = true, last = use.waited_on == full;
  for (size_t i = 0; i < filler.use.size(); ++i) {
    if (i == array || filler.use[i].waits == 0) continue;
    none = false, last &= filler.use[i].waited_at < use.waited_at;
  }
  if (!none && !last) return {};
  return fmt::format("{} {} {}, which its own copies complete, {} ({})", kernel.role(filler.index),
                     none ? "waits for" : "has last waited for",
                     none ? std::string(name.array->name) : barrier_text(kernel, full),
                     none ? "and has never waited for a release" : "where it must wait for the stage's release",
                     line_of(use.waited));
}

}  // namespace sm100::sim
