// SPDX-License-Identifier: Apache-2.0
// SimIsa's tcgen05: allocation, MMAs and commits, loads and stores of tensor memory (PTX 9.7.16).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/sim_isa.h"

namespace sm100::sim {

using models::Cycles;
using models::now;

void SimIsa::tcgen05_alloc(SmemAddr dst, uint32_t columns, int cta_group, Loc loc) {
  if (!check_group(cta_group, "tcgen05.alloc", loc) || !converged("tcgen05.alloc", loc)) return;
  charge(issue_.tcgen05_alloc + profile_.tmem.alloc_cycles);
  settle(loc);
  const auto granted = [&] {
    return cta_group == 2 ? own_.tmem.alloc_pair(peer().tmem, columns, warp_.waiter, source(loc))
                          : own_.tmem.alloc(columns, warp_.waiter, source(loc));
  };
  std::optional<uint32_t> column;
  while (!(column = granted())) warp_.suspend({.on = Blocked::On::tmem_alloc, .offset = columns, .loc = loc});
  if (!in_shared(dst, 4, 4, "tcgen05.alloc", loc)) return;
  own_.smem.store(dst.offset(), TmemAddr::at(0, *column).value);
  if (HazardChecker* h = hazards()) h->alloc_result(thread(loc), h->smem_sets().intern_range(dst.offset(), 4));
}

void SimIsa::tcgen05_dealloc(TmemAddr address, uint32_t columns, int cta_group, Loc loc) {
  if (!check_group(cta_group, "tcgen05.dealloc", loc) || !converged("tcgen05.dealloc", loc)) return;
  charge(issue_.tcgen05_alloc);
  settle(loc);
  if (own_.umma.finished() > now())
    return violate("TC9", fmt::format("tcgen05.dealloc of {} columns while MMAs have not finished", columns), loc);
  if (HazardChecker* h = hazards()) h->tmem_dealloc(thread(loc), address, columns);
  if (cta_group == 1) return own_.tmem.dealloc(address, columns, source(loc));
  while (!own_.tmem.dealloc_pair(peer().tmem, address, columns, warp_.waiter, source(loc)))
    warp_.suspend({.on = Blocked::On::tmem_dealloc, .offset = columns, .loc = loc});
}

void SimIsa::tcgen05_relinquish_alloc_permit(int cta_group, Loc loc) {
  if (!check_group(cta_group, "tcgen05.relinquish_alloc_permit", loc) ||
      !converged("tcgen05.relinquish_alloc_permit", loc))
    return;
  charge(issue_.tcgen05_alloc);
  own_.tmem.relinquish_alloc_permit();
}

namespace {

/// What all forms of tcgen05.mma have.
models::MmaCommand mma_command(MmaKind kind, int cta_group, TmemAddr d, SmemDescriptor b, InstrDescriptor idesc,
                               bool enable_input_d) {
  models::MmaCommand command;
  command.kind = kind, command.cta_group = cta_group;
  command.d = d, command.b = b, command.idesc = idesc;
  command.enable_input_d = enable_input_d;
  return command;
}

}  // namespace

void SimIsa::tcgen05_mma(MmaKind kind, int cta_group, TmemAddr d, SmemDescriptor a, SmemDescriptor b,
                         InstrDescriptor idesc, bool enable_input_d, Loc loc) {
  models::MmaCommand command = mma_command(kind, cta_group, d, b, idesc, enable_input_d);
  command.a = a;
  issue_mma(command, loc);
}

void SimIsa::tcgen05_mma(MmaKind kind, int cta_group, TmemAddr d, TmemAddr a, SmemDescriptor b,
                         InstrDescriptor idesc, bool enable_input_d, Loc loc) {
  models::MmaCommand command = mma_command(kind, cta_group, d, b, idesc, enable_input_d);
  command.a_in_tmem = true, command.a_tmem = a;
  issue_mma(command, loc);
}

void SimIsa::tcgen05_mma_block_scale(MmaKind kind, int cta_group, TmemAddr d, SmemDescriptor a, SmemDescriptor b,
                                     InstrDescriptor idesc, TmemAddr sfa, TmemAddr sfb, bool enable_input_d,
                                     Loc loc) {
  models::MmaCommand command = mma_command(kind, cta_group, d, b, idesc, enable_input_d);
  command.a = a, command.sfa = sfa, command.sfb = sfb;
  issue_mma(command, loc);
}

void SimIsa::tcgen05_mma_block_scale(MmaKind kind, int cta_group, TmemAddr d, TmemAddr a, SmemDescriptor b,
                                     InstrDescriptor idesc, TmemAddr sfa, TmemAddr sfb, bool enable_input_d,
                                     Loc loc) {
  models::MmaCommand command = mma_command(kind, cta_group, d, b, idesc, enable_input_d);
  command.a_in_tmem = true, command.a_tmem = a, command.sfa = sfa, command.sfb = sfb;
  issue_mma(command, loc);
}

void SimIsa::issue_mma(models::MmaCommand command, Loc loc) {
  charge(issue_.tcgen05_mma);
  if (!check_group(command.cta_group, "tcgen05.mma", loc)) return;
  if (active_lanes() > 1)
    cta_.observer().violation({"TC12",
                               fmt::format("tcgen05.mma by {} lanes: each issues the whole MMA", active_lanes()),
                               now(), own_.slot, 0, source(loc), true});
  const models::Cycles at = enqueue_cycle(loc);
  // Every active lane issues the whole MMA (reference isa.md 3.6).
  for_each_thread(loc, [&](const models::Source& by) {
    command.source = by;
    own_.umma.mma(command, at);
    if (HazardChecker* h = hazards(); h && cta_.observer().violations().empty())  // its operands make sense
      h->mma(thread(loc, by.lane), command);
  });
}

uint32_t SimIsa::committing(int lane, CtaMask ranks, SmemAddr barrier, Loc loc) {
  HazardChecker* h = hazards();
  if (!h) return 0;
  for (uint32_t r = 0; r < cta_.cluster_ctas(); ++r)
    if (ranks.bits >> r & 1) h->uses_barrier(thread(loc), r, barrier.offset(), true);
  return h->commit(thread(loc, lane));
}

void SimIsa::tcgen05_commit(int cta_group, SmemAddr barrier, Loc loc) {
  count_arrival(barrier, loc);
  charge(issue_.tcgen05_commit);
  if (!check_group(cta_group, "tcgen05.commit", loc) || !own_window(barrier, "tcgen05.commit", loc)) return;
  const models::Cycles at = enqueue_cycle(loc);
  for_each_thread(loc, [&](models::Source by) {
    by.op = committing(by.lane, {uint16_t(1u << cluster_ctarank())}, barrier, loc);
    own_.umma.commit(barrier.offset(), at, by);
  });
}

void SimIsa::tcgen05_commit_multicast(int cta_group, SmemAddr barrier, CtaMask mask, Loc loc) {
  count_arrival(barrier, loc);
  charge(issue_.tcgen05_commit);
  if (!check_group(cta_group, "tcgen05.commit", loc) || !own_window(barrier, "tcgen05.commit", loc)) return;
  const models::Cycles at = enqueue_cycle(loc);
  for_each_thread(loc, [&](const models::Source& by) {
    const auto to = cta_.gpu().clusters().multicast(own_.slot, mask, "tcgen05.commit.multicast", barrier.offset(),
                                                    by, models::JitterSite::commit_delivery);
    if (!to) return;
    models::Source committed = by;
    committed.op = committing(by.lane, mask, barrier, loc);
    own_.umma.commit(
        barrier.offset(), at, committed,
        [to, offset = barrier.offset(), path = profile_.cluster.remote_arrive_cycles](const models::Source& umma) {
          to(models::Cycles(path),
             [offset, umma](int, models::Mbarrier& target) { target.arrive(offset, 1, umma); });
        },
        mask.bits);
  });
}

Cycles SimIsa::tmem_transfer(models::UnitSpanKind kind, TmemAddr address, int columns, Cycles before, Loc loc) {
  models::TensorMemoryPort& port = sm_.tensor_memory_ports[size_t(warp_.index % 4)];
  const Cycles begin = port.begin(own_.slot, std::max(before, issue_cycle()));
  const auto site =
      kind == models::UnitSpanKind::tmem_read ? models::JitterSite::tmem_load : models::JitterSite::tmem_store;
  const Cycles done =
      begin + Cycles(columns / profile_.tmem.ld_columns_per_cycle) + jitter().delay(site, point(loc));
  port.take(own_.slot, done);
  if (cta_.observer().recorder())
    cta_.observer().unit_span({.kind = kind,
                               .begin = begin,
                               .end = done + Cycles(profile_.tmem.ld_latency_cycles),
                               .slot = own_.slot,
                               .flow_in = flow_of_open_span(),
                               .source = source(loc),
                               .column = int(address.column()),
                               .columns = columns});
  return done;
}

void SimIsa::tmem_wait(Cycles transferred) {
  const Cycles done = transferred + Cycles(profile_.tmem.ld_latency_cycles);
  if (transferred > 0 && done > issue_cycle()) warp_.ahead = double(done - now());
}

void SimIsa::tmem_load(TmemShape shape, int repeat, TmemAddr address, uint32_t* registers, Loc loc) {
  charge(issue_.tcgen05_ld);
  if (!converged("tcgen05.ld", loc)) return;
  settle(loc);
  own_.tmem.load(shape, repeat, address, warp_.index, registers, source(loc));
  if (HazardChecker* h = hazards()) h->tmem_load(thread(loc), shape, repeat, address);
  const UnwaitedLoad load{registers, registers + kWarpLanes * registers_per_thread(shape, repeat), ++tmem_loads_};
  std::erase_if(unwaited_loads_, [&](const UnwaitedLoad& earlier) {  // whose registers are gone
    return load.holds(earlier.registers) || earlier.holds(load.registers);
  });
  unwaited_loads_.push_back(load);
  // A load on its way while registers of an earlier one wait to be read is a prefetch: those are read first.
  if (!valid_unread_) guessed_load_ = tmem_loads_;
  tmem_loads_done_ = tmem_transfer(models::UnitSpanKind::tmem_read, address, columns_spanned(shape, repeat),
                                   tmem_loads_done_, loc);
}

void SimIsa::tcgen05_wait_ld(Loc loc) {
  if (!converged("tcgen05.wait::ld", loc)) return;
  tmem_wait(tmem_loads_done_);
  if (!unwaited_loads_.empty()) valid_unread_ = true;
  unwaited_loads_.clear(), guessed_load_ = 0;
  if (HazardChecker* h = hazards()) h->tmem_wait_load(thread(loc));
}

void SimIsa::read_tmem_register(uint32_t load, std::string_view seen, Loc loc) {
  tmem_wait(tmem_loads_done_);
  std::erase_if(unwaited_loads_, [=](const UnwaitedLoad& earlier) { return earlier.number <= load; });
  if (guessed_load_ <= load) guessed_load_ = 0;
  if (HazardChecker* h = hazards()) h->tmem_register_read(thread(loc), load, seen);
}

/// Time is taken to be a load's.
void SimIsa::tmem_store(TmemShape shape, int repeat, TmemAddr address, const uint32_t* registers, Loc loc) {
  use_global_loads();
  uses_registers(registers, loc);
  charge(issue_.tcgen05_ld);
  if (!converged("tcgen05.st", loc)) return;
  settle(loc);
  own_.tmem.store(shape, repeat, address, warp_.index, registers, source(loc));
  if (HazardChecker* h = hazards()) h->tmem_store(thread(loc), shape, repeat, address);
  tmem_stores_done_ = tmem_transfer(models::UnitSpanKind::tmem_write, address, columns_spanned(shape, repeat),
                                    tmem_stores_done_, loc);
}

void SimIsa::tcgen05_wait_st(Loc loc) {
  if (!converged("tcgen05.wait::st", loc)) return;
  tmem_wait(tmem_stores_done_);
  if (HazardChecker* h = hazards()) h->tmem_wait_store(thread(loc));
}

}  // namespace sm100::sim
