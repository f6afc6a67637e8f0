// SPDX-License-Identifier: Apache-2.0
// tcgen05 on the model: allocation, MMAs and commits, loads and stores of tensor memory (PTX 9.7.16).
#include "kernels/isa/instructions/tcgen05.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/provenance.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using models::now;
using sim::Blocked;
using sim::HazardChecker;
using sim::WarpContext;

// ---- allocation

void Tcgen05Alloc::execute(WarpContext& w) const {
  if (!w.check_group(cta_group, "tcgen05.alloc")) return;
  w.charge(w.issue.tcgen05_alloc + w.profile.tmem.alloc_cycles);
  w.settle();
  const auto granted = [&] {
    return cta_group == 2 ? w.own.tmem.alloc_pair(w.peer().tmem, columns, w.warp.waiter, w.source())
                          : w.own.tmem.alloc(columns, w.warp.waiter, w.source());
  };
  std::optional<uint32_t> column;
  while (!(column = granted())) w.warp.suspend({.on = Blocked::On::tmem_alloc, .offset = columns, .loc = w.loc()});
  if (!w.in_shared(address, 4, 4, "tcgen05.alloc")) return;
  w.own.smem.store(address.offset(), TmemAddr::at(0, *column).value);
  if (HazardChecker* h = w.hazards()) h->alloc_result(w.thread(), h->smem_sets().intern_range(address.offset(), 4));
}

void Tcgen05Dealloc::execute(WarpContext& w) const {
  if (!w.check_group(cta_group, "tcgen05.dealloc")) return;
  w.charge(w.issue.tcgen05_alloc);
  w.settle();
  if (w.own.umma.finished() > now())
    return w.violate("TC9", fmt::format("tcgen05.dealloc of {} columns while MMAs have not finished", columns));
  if (HazardChecker* h = w.hazards()) h->tmem_dealloc(w.thread(), address, columns, cta_group);
  if (cta_group == 1) return w.own.tmem.dealloc(address, columns, w.source());
  while (!w.own.tmem.dealloc_pair(w.peer().tmem, address, columns, w.warp.waiter, w.source()))
    w.warp.suspend({.on = Blocked::On::tmem_dealloc, .offset = columns, .loc = w.loc()});
}

void Tcgen05RelinquishAllocPermit::execute(WarpContext& w) const {
  if (!w.check_group(cta_group, "tcgen05.relinquish_alloc_permit")) return;
  w.charge(w.issue.tcgen05_alloc);
  w.own.tmem.relinquish_alloc_permit();
}

// ---- MMAs and commits

namespace {

models::MmaCommand command_of(const Tcgen05Mma& mma) {
  models::MmaCommand command;
  command.kind = mma.kind, command.cta_group = mma.cta_group;
  command.d = mma.d, command.b = mma.b, command.idesc = mma.idesc;
  command.enable_input_d = mma.enable_input_d;
  command.scale_input_d = mma.scale_input_d;
  command.modifiers = mma.modifiers, command.metadata = mma.metadata;
  command.disabled_lanes = mma.disabled_lanes, command.zero_columns = mma.zero_columns;
  command.a_in_tmem = mma.a.in_tmem;
  if (mma.a.in_tmem)
    command.a_tmem = mma.a.tmem;
  else
    command.a = mma.a.tile;
  return command;
}

void issue_mma(WarpContext& w, models::MmaCommand command) {
  w.charge(w.issue.tcgen05_mma);
  if (!w.check_group(command.cta_group, "tcgen05.mma")) return;
  if (w.active_lanes() > 1)
    w.warn("TC12", fmt::format("tcgen05.mma by {} lanes: each issues the whole MMA", w.active_lanes()));
  const Cycles at = w.enqueue_cycle();
  w.for_each_thread([&](const models::Source& by) {
    command.source = by;
    w.own.umma.mma(command, at);
    if (HazardChecker* h = w.hazards(); h && w.cta.observer().violations().empty())  // its operands make sense
      h->mma(w.thread(by.lane), command, w.active_lanes());
  });
}

/// A commit by one thread to the barrier in each CTA of `ranks`; returns what goes along as Source::op.
uint32_t committing(WarpContext& w, int lane, CtaMask ranks, SmemAddr barrier) {
  HazardChecker* h = w.hazards();
  if (!h) return 0;
  for (uint32_t r = 0; r < w.cta.cluster_ctas(); ++r)
    if (ranks.bits >> r & 1) h->uses_barrier(w.thread(), r, barrier.offset(), true);
  const uint32_t op = h->commit(w.thread(lane), barrier.offset());
  for (uint32_t r = 0; r < w.cta.cluster_ctas(); ++r)
    if (ranks.bits >> r & 1) h->commit_reaches(w.thread(lane), r, barrier.offset());
  return op;
}

}  // namespace

void Tcgen05Mma::execute(WarpContext& w) const { issue_mma(w, command_of(*this)); }

void Tcgen05MmaBlockScale::execute(WarpContext& w) const {
  models::MmaCommand command = command_of(mma);
  command.scale_vec = scale_vec, command.sfa = sfa, command.sfb = sfb;
  issue_mma(w, command);
}

/// Issue is taken to cost what an MMA's does.
void Tcgen05Cp::execute(WarpContext& w) const {
  w.charge(w.issue.tcgen05_mma);
  if (!w.check_group(cta_group, "tcgen05.cp")) return;
  if (w.active_lanes() > 1)
    w.warn("TC12", fmt::format("tcgen05.cp by {} lanes: each issues the whole copy", w.active_lanes()));
  const Cycles at = w.enqueue_cycle();
  w.for_each_thread([&](const models::Source& by) {
    const models::TensorMemoryCopyCommand command{shape, decompression, cta_group, to, source, by};
    w.own.umma.copy(command, at);
    if (HazardChecker* h = w.hazards(); h && w.cta.observer().violations().empty())  // its operands make sense
      h->tmem_copy(w.thread(by.lane), command);
  });
}

void Tcgen05Commit::execute(WarpContext& w) const {
  const uint32_t rank = barrier.value >> kClusterRankShift;
  if (rank != w.cluster_ctarank() && rank < w.cta.cluster_ctas())  // .shared::cluster names any CTA's
    return Tcgen05CommitMulticast{cta_group, barrier, {uint16_t(1u << rank)}}.execute(w);
  w.count_arrival(barrier);
  w.charge(w.issue.tcgen05_commit);
  if (!w.check_group(cta_group, "tcgen05.commit") || !w.cluster_window(barrier, "tcgen05.commit")) return;
  const Cycles at = w.enqueue_cycle();
  w.for_each_thread([&](models::Source by) {
    by.op = committing(w, by.lane, {uint16_t(1u << w.cluster_ctarank())}, barrier);
    w.own.umma.commit(barrier.offset(), at, by);
  });
}

void Tcgen05CommitMulticast::execute(WarpContext& w) const {
  w.count_arrival(barrier);
  if (sim::Warp::Use* use = w.use_of(barrier)) use->committed_to |= mask.bits;
  w.charge(w.issue.tcgen05_commit);
  if (!w.check_group(cta_group, "tcgen05.commit") || !w.cluster_window(barrier, "tcgen05.commit")) return;
  const Cycles at = w.enqueue_cycle();
  w.for_each_thread([&](const models::Source& by) {
    const auto to = w.cta.gpu().clusters().multicast(w.own.slot, mask, "tcgen05.commit.multicast", barrier.offset(),
                                                     by, models::JitterSite::commit_delivery);
    if (!to) return;
    models::Source committed = by;
    committed.op = committing(w, by.lane, mask, barrier);
    w.own.umma.commit(
        barrier.offset(), at, committed,
        [to, offset = barrier.offset(), path = w.profile.cluster.remote_arrive_cycles](const models::Source& umma) {
          to(Cycles(path), [offset, umma](int, models::Mbarrier& target) { target.arrive(offset, 1, umma); });
        },
        mask.bits);
  });
}

// ---- transfers between registers and tensor memory

namespace {

/// When the columns of a load or store have passed, those of the one before included.
Cycles transfer(WarpContext& w, models::UnitSpanKind kind, TmemAddr address, int columns, Cycles before) {
  models::TensorMemoryPort& port = w.sm.tensor_memory_ports[size_t(w.warp.index % 4)];
  const Cycles begin = port.begin(w.own.slot, std::max(before, w.issue_cycle()));
  const auto site =
      kind == models::UnitSpanKind::tmem_read ? models::JitterSite::tmem_load : models::JitterSite::tmem_store;
  const Cycles done =
      begin + Cycles(columns / w.profile.tmem.ld_columns_per_cycle) + w.jitter().delay(site, w.point());
  port.take(w.own.slot, done);
  if (w.cta.observer().recorder())
    w.cta.observer().unit_span({.kind = kind,
                                .begin = begin,
                                .end = done + Cycles(w.profile.tmem.ld_latency_cycles),
                                .slot = w.own.slot,
                                .flow_in = w.flow_of_open_span(),
                                .source = w.source(),
                                .column = int(address.column()),
                                .columns = columns});
  return done;
}

/// Of the warp's quarter, whatever the address says of it.
uint32_t first_lane(const WarpContext& w, TmemAddr address) {
  return 32u * uint32_t(w.warp.index % 4) + address.lane() % 32;
}

/// Issue waits for a transfer.
void wait_for(WarpContext& w, Cycles transferred) {
  if (transferred > 0) w.hold_issue(transferred + Cycles(w.profile.tmem.ld_latency_cycles));
}

}  // namespace

template <TmemShape kShape>
void Tcgen05Ld<kShape>::execute(WarpContext& w) const {
  w.charge(w.issue.tcgen05_ld);
  w.settle();
  w.own.tmem.load(kShape, repeat, address, w.warp.index, registers, w.source(), split);
  if (models::Provenance* p = w.sm.provenance) {
    // Of two halves it is known where they come from, but not which register has which element.
    constexpr bool kHalves = kShape == TmemShape::s16x32bx2;
    p->tensor_memory_loaded(w.own.slot, w.sm.id, kShape, repeat, first_lane(w, address), address.column(),
                            w.sm.with_data && !kHalves ? registers : nullptr, w.source());
    if (kHalves)
      p->tensor_memory_loaded(w.own.slot, w.sm.id, kShape, repeat, first_lane(w, address),
                              address.column() + uint32_t(split), nullptr, w.source());
  }
  if (HazardChecker* h = w.hazards()) h->tmem_load(w.thread(), kShape, repeat, address, split);
  WarpContext::UnwaitedLoad load{registers, registers + kWarpLanes * registers_per_thread(kShape, repeat),
                                 ++w.tmem_loads};
  if (w.sm.with_data) load.sample = load.sampled();
  std::erase_if(w.unwaited_loads, [&](const WarpContext::UnwaitedLoad& earlier) {  // whose registers are gone
    return load.holds(earlier.registers) || earlier.holds(load.registers);
  });
  w.unwaited_loads.push_back(load);
  // A load on its way while registers of an earlier one wait to be read is a prefetch: those are read first.
  if (w.valid_unread.empty()) w.guessed_load = w.tmem_loads;
  w.tmem_loads_done =
      transfer(w, models::UnitSpanKind::tmem_read, address, columns_spanned(kShape, repeat), w.tmem_loads_done);
}
template struct Tcgen05Ld<TmemShape::s16x256b>;
template struct Tcgen05Ld<TmemShape::s32x32b>;
template struct Tcgen05Ld<TmemShape::s16x64b>;
template struct Tcgen05Ld<TmemShape::s16x128b>;
template struct Tcgen05Ld<TmemShape::s16x32bx2>;

void Tcgen05WaitLd::execute(WarpContext& w) const {
  wait_for(w, w.tmem_loads_done);
  w.valid_unread.insert(w.valid_unread.end(), w.unwaited_loads.begin(), w.unwaited_loads.end());
  w.unwaited_loads.clear(), w.guessed_load = 0;
  if (HazardChecker* h = w.hazards()) h->tmem_wait_load(w.thread());
}

/// Time is taken to be a load's.
template <TmemShape kShape>
void Tcgen05St<kShape>::execute(WarpContext& w) const {
  w.use_global_loads();
  w.hold_issue(w.shared_words_done);
  w.uses_registers(registers);
  w.charge(w.issue.tcgen05_ld);
  w.settle();
  w.own.tmem.store(kShape, repeat, address, w.warp.index, registers, w.source(), split);
  if (models::Provenance* p = w.sm.provenance) {
    constexpr bool kHalves = kShape == TmemShape::s16x32bx2;
    const uint32_t* const known = w.sm.with_data && !kHalves ? registers : nullptr;
    p->tensor_memory_stored(w.own.slot, w.sm.id, kShape, repeat, first_lane(w, address), address.column(), known,
                            w.source());
    if (kHalves)
      p->tensor_memory_stored(w.own.slot, w.sm.id, kShape, repeat, first_lane(w, address),
                              address.column() + uint32_t(split), nullptr, w.source());
  }
  if (HazardChecker* h = w.hazards()) h->tmem_store(w.thread(), kShape, repeat, address, split);
  w.tmem_stores_done =
      transfer(w, models::UnitSpanKind::tmem_write, address, columns_spanned(kShape, repeat), w.tmem_stores_done);
}
template struct Tcgen05St<TmemShape::s16x256b>;
template struct Tcgen05St<TmemShape::s32x32b>;
template struct Tcgen05St<TmemShape::s16x64b>;
template struct Tcgen05St<TmemShape::s16x128b>;
template struct Tcgen05St<TmemShape::s16x32bx2>;

void Tcgen05WaitSt::execute(WarpContext& w) const {
  wait_for(w, w.tmem_stores_done);
  if (HazardChecker* h = w.hazards()) h->tmem_wait_store(w.thread());
}

void Tcgen05FenceBeforeThreadSync::execute(WarpContext& w) const {
  w.charge(w.issue.tcgen05_fence);
  if (HazardChecker* h = w.hazards()) h->tcgen05_fence_before(w.thread());
}

void Tcgen05FenceAfterThreadSync::execute(WarpContext& w) const {
  w.charge(w.issue.tcgen05_fence);
  if (HazardChecker* h = w.hazards()) h->tcgen05_fence_after(w.thread());
}

}  // namespace sm100::instructions

namespace sm100::sim {

void WarpContext::read_tmem_register(uint32_t number, std::string_view seen) {
  instructions::wait_for(*this, tmem_loads_done);
  std::erase_if(unwaited_loads, [=](const UnwaitedLoad& earlier) { return earlier.number <= number; });
  if (guessed_load <= number) guessed_load = 0;
  if (HazardChecker* h = hazards()) h->tmem_register_read(thread(), number, seen);
}

}  // namespace sm100::sim
