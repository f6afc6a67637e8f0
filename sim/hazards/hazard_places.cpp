// SPDX-License-Identifier: Apache-2.0
// Two accesses that nothing orders, of which one should not be where it is: a wait between them would only hide it.
#include <fmt/format.h>

#include "sim/hang/debts.h"
#include "sim/hazards/barriers_meant.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/text.h"

namespace sm100::sim {

std::optional<HazardChecker::WrongPlace> HazardChecker::wrong_place(const Thread& t, uint32_t at_rank,
                                                                    const Access& earlier, const Access& later,
                                                                    Footprints::Id first, Footprints::Id second) {
  if (earlier.kind == AccessKind::tensor_load &&
      (later.kind == AccessKind::mma_operand || later.kind == AccessKind::wgmma_operand ||
       later.kind == AccessKind::copy_source))
    return wrong_operand(t, at_rank, earlier, later, second);
  if (earlier.kind == AccessKind::tensor_load && later.kind == AccessKind::generic && !later.write)
    return stage_not_awaited(t, at_rank, earlier, false);
  if (later.kind == AccessKind::clc_response) {
    const Footprints::Interval a = smem_sets_.bounds(first), b = smem_sets_.bounds(second);
    const bool within = (a.begin <= b.begin && b.end <= a.end) || (b.begin <= a.begin && a.end <= b.end);
    if (!within)
      return WrongPlace{
          fmt::format("; the two have only a part in common: the slot at {:#x} overlaps the one at {:#x}", b.begin,
                      a.begin),
          "wrong: the address of a response's slot, or the distance from one to the next, which is 16 bytes at "
          "least"};
  }
  if (earlier.kind == AccessKind::tensor_store && is_threads(later.kind)) {
    std::optional<WrongPlace> place = left_pending(t, earlier, later);
    return place || !later.write ? place : other_strip(t, earlier, later, smem_sets_.bounds(first));
  }
  return std::nullopt;
}

/// An operand that has bytes of a copy for which its thread has not waited, also has some for which it has; or the
/// other operand has.
std::optional<HazardChecker::WrongPlace> HazardChecker::wrong_operand(const Thread& t, uint32_t at_rank,
                                                                      const Access& copy, const Access& later,
                                                                      Footprints::Id operand) {
  const std::string role = kernel(t.slot).role(later.by.warp), barrier = barrier_text(kernel(t.slot), copy.barrier);
  if (later.kind == AccessKind::copy_source) return stage_not_awaited(t, at_rank, copy, true);
  if (const Access* own = landed_of_ring(t, at_rank, copy, operand))
    return WrongPlace{
        fmt::format("{} reads beyond its stage: {} has bytes of {}, and reaches into those of {}, {}", role,
                    operand_text(operand), barrier_text(kernel(t.slot), own->barrier), barrier,
                    copy.phase < 0 ? "which have not landed" : "for which it has not waited"),
        "wrong: where the operand lies or how far it reaches: start address, step along K, leading or stride byte "
        "offset of its descriptor, transpose bits and shape in the instruction descriptor; or the size of a stage",
        true};
  if (later.kind == AccessKind::wgmma_operand) return stage_not_awaited(t, at_rank, copy, true);
  if (!issuing_ || later.kind != AccessKind::mma_operand) return std::nullopt;
  const bool is_b = operand == issuing_->b;
  if (issuing_->command.a_in_tmem || issuing_->a == issuing_->b) return std::nullopt;
  const Access* const other = landed_of_ring(t, at_rank, copy, is_b ? issuing_->a : issuing_->b);
  if (!other || other->barrier != warp(t).awaited) return std::nullopt;
  return WrongPlace{
      fmt::format(
          "{} reads operand {} from the stage of {}, and operand {} from that of {}, which it has waited for", role,
          is_b ? "B" : "A", barrier, is_b ? "A" : "B", barrier_text(kernel(t.slot), other->barrier)),
      fmt::format("wrong: where operand {} lies: the stage index, or the start address of its descriptor",
                  is_b ? "B" : "A"),
      true};
}

std::string HazardChecker::operand_text(Footprints::Id operand) const {
  if (!issuing_ || issuing_->a == issuing_->b) return "an operand";
  const InstrDescriptorFields idesc = decode(issuing_->command.idesc, issuing_->command.kind);
  const bool a = operand == issuing_->a;
  return fmt::format("operand {} (instruction descriptor: M {}, N {})", a ? 'A' : 'B', idesc.m, idesc.n);
}

/// The warp has waited for another stage, and works on that.
std::optional<HazardChecker::WrongPlace> HazardChecker::stage_not_awaited(const Thread& t, uint32_t at_rank,
                                                                          const Access& copy, bool by_unit) {
  const BarrierName read = barrier_name(kernel(t.slot), copy.barrier);
  if (!read.array || !t.warp || at_rank != rank(t.slot)) return std::nullopt;
  // Its last wait for the ring, and whether it has arrived or committed since, on the ring's other side if that is
  // known.
  const auto use_of = [&](const BarrierArray& array) -> const Warp::Use* {
    const auto i = size_t(&array - kernel(t.slot).barriers.data());
    return i < t.warp->use.size() ? &t.warp->use[i] : nullptr;
  };
  const Warp::Use* const use = use_of(*read.array);
  const BarrierArray* const empty = partner(kernel(t.slot), *read.array);
  const Warp::Use* const back = empty ? use_of(*empty) : nullptr;
  const std::string& role = kernel(t.slot).role(t.by.warp);
  if (use && use->waits == 0 && back && lists(empty->arrives, role)) {  // others wait for it
    const int last = back->arrivals > 0 ? barrier_name(kernel(t.slot), back->arrived_on).stage : -1,
              next = (last + 1) % read.array->stages;
    if (read.stage == next) return std::nullopt;
    return WrongPlace{
        fmt::format("{} reads the stage of {}, and has {}: it works on stage {}", role,
                    barrier_text(kernel(t.slot), copy.barrier),
                    last < 0 ? "handed back none" : fmt::format("handed back {}[{}] last", empty->name, last),
                    next),
        "wrong: where it reads: its address leads to another stage", true};
  }
  if (!use || use->waits == 0 || use->waited_on == copy.barrier) return std::nullopt;
  const WarpState& self = warp(t);
  const bool is_last = self.awaited == use->waited_on;
  const bool handed_back = is_last ? self.handed_back : !back || back->arrivals >= use->waits;
  if (handed_back) return std::nullopt;
  const std::string of = barrier_text(kernel(t.slot), copy.barrier),
                    waited = barrier_text(kernel(t.slot), use->waited_on);
  // Threads that have begun with one stage go on with the next before they hand it back.
  if (!by_unit && (!is_last || self.read_awaited)) return std::nullopt;
  if (!by_unit)
    return WrongPlace{fmt::format("{} reads the stage of {}, and has waited for {}, of which it has read nothing",
                                  role, of, waited),
                      "wrong: where it reads, by the stage's index or its address; or the stage that it waits for",
                      true};
  return WrongPlace{
      fmt::format("{} reads the stage of {}, and has waited for {}, which it has not handed back yet", role, of,
                  waited),
      fmt::format("wrong: where it reads: its address leads beyond the stage; or a wait for {} is missing", of),
      true};
}

const Access* HazardChecker::landed_of_ring(const Thread& t, uint32_t at_rank, const Access& copy,
                                            Footprints::Id set) {
  const BarrierName stage = barrier_name(kernel(t.slot), copy.barrier);
  const Access* landed = nullptr;
  if (stage.array)
    cluster(t.slot).ctas[at_rank].smem.for_each_write(smem_sets_, set, [&](const Access& write) {
      if (write.kind != AccessKind::tensor_load || !write.barrier || !warp(t).known.happened.knows(write.over))
        return;
      const BarrierName other = barrier_name(kernel(t.slot), write.barrier);
      if (other.array == stage.array && other.stage != stage.stage) landed = &write;
    });
  return landed;
}

std::string HazardChecker::reached_without_release(const Thread& t, uint32_t at_rank, const Access& operand,
                                                   const Access& later) {
  if (operand.kind != AccessKind::mma_operand || later.kind != AccessKind::tensor_load || at_rank == rank(t.slot) ||
      operand.by.cta == later.by.cta)
    return {};
  const Cluster& in = cluster(t.slot);
  std::string to;
  for (uint32_t r = 0; r < in.signals.size(); ++r)
    for (const Signal& signal : in.signals[r]) {
      if (!signal.commit || signal.by.cta != operand.by.cta || signal.by.warp != operand.by.warp) continue;
      if (r == rank(t.slot)) return {};
      to += fmt::format("{}{}", to.empty() ? "" : ", ", r);
    }
  if (to.empty()) return {};
  return fmt::format(
      "wrong: the multicast mask of the copy, which reaches CTA rank {}, or that of the tcgen05.commit of {} "
      "there, which reaches rank {} and not this one ({})",
      at_rank, in.kernel->role(operand.by.warp), to, rank(t.slot));
}

/// A strip is written again whose store the last wait_group has left pending.
std::optional<HazardChecker::WrongPlace> HazardChecker::left_pending(const Thread& t, const Access& store,
                                                                     const Access& later) {
  const Cluster& in = cluster(t.slot);
  if (store.by.cta != later.by.cta) return std::nullopt;
  for (const BulkGroups& groups : warp_of(in, store).bulk_groups) {
    if (groups.component != store.over.component || groups.left_pending <= 0) continue;
    // Else the two warps have not met since, and a barrier is missing.
    if (!warp(t).known.happened.knows(groups.waited)) continue;
    const Clock group = store.over.clock;
    if (group >= groups.waited_at || groups.waited_at - group > Clock(groups.left_pending)) continue;
    const std::string who = in.kernel->role(store.by.warp);
    return WrongPlace{
        fmt::format("; {} has waited since, and has left up to {} group{} pending, this store's among them", who,
                    groups.left_pending, groups.left_pending == 1 ? "" : "s"),
        "; or the buffers of two stores overlap: the address of a strip is wrong", false, true};
  }
  return std::nullopt;
}

/// A strip that another store may still read is written anew, and was to lie elsewhere.
std::optional<HazardChecker::WrongPlace> HazardChecker::other_strip(const Thread& t, const Access& store,
                                                                    const Access& later,
                                                                    Footprints::Interval read) {
  if (store.by.cta != later.by.cta) return std::nullopt;
  const std::string role = kernel(t.slot).role(later.by.warp);
  const WarpState::Strip& strip = warp(t).strip;
  if (strip.begin && strip.previous && *strip.begin != *strip.previous && *strip.previous >= read.begin &&
      *strip.previous < read.end) {
    const uint32_t apart = std::max(*strip.begin, *strip.previous) - std::min(*strip.begin, *strip.previous);
    if (apart < read.end - read.begin)
      return WrongPlace{
          fmt::format("; two strips overlap: those of {} begin {} bytes apart, and the store reads {} "
                      "bytes",
                      role, apart, read.end - read.begin),
          "wrong: where a strip begins, or the distance from one to the next"};
  }
  if (strip.begin && strip.previous && *strip.begin == *strip.previous && *strip.begin >= read.begin &&
      *strip.begin < read.end)
    return WrongPlace{"; this strip lies where the one before it did",
                      "; or strips are to alternate between two buffers, and the address of one is wrong", false,
                      true};
  constexpr int kWarpgroup = 4;
  if (store.by.warp / kWarpgroup != later.by.warp / kWarpgroup && kernel(t.slot).role(store.by.warp) == role)
    return WrongPlace{
        fmt::format(
            "; the store is of warps {}-{}, and warps {}-{} write the same strip",
            store.by.warp / kWarpgroup * kWarpgroup, store.by.warp / kWarpgroup * kWarpgroup + kWarpgroup - 1,
            later.by.warp / kWarpgroup * kWarpgroup, later.by.warp / kWarpgroup * kWarpgroup + kWarpgroup - 1),
        "; or each warpgroup is to have strips of its own, and the address of one is wrong", false, true};
  return std::nullopt;
}

}  // namespace sm100::sim
