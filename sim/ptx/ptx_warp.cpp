// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp on their way through a program: groups, branches, registers that are on their way.
#include "sim/ptx/ptx_warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/ptx/special_values.h"

namespace sm100::sim {

using ptx::Instr;
using ptx::Kind;
using ptx::LaneMask;
using ptx::Operand;
using ptx::Row;

PtxWarp::PtxWarp(const PtxCode& code, std::span<const uint8_t> parameters, Warp& warp,
                 const models::DeviceProfile& profile, FaultInterceptor* faults)
    : context(warp, profile, faults),
      file(code.program().register_bytes, code.constants(warp.cta.cluster_rank()),
           code.windows(warp.cta.cluster_rank())),
      code(code),
      warp_(warp),
      parameters_(parameters),
      local_(size_t(ptx::kLanes) * (code.program().local_bytes + code.program().call_param_bytes)),
      marks_(code.program().row_numbers()),
      unknown_(code.program().row_numbers()) {
  const auto& issue = context.issue;
  costs_ = {0, issue.alu, issue.integer, issue.special_function, issue.division, issue.wide_division, issue.branch};
  live_ = lanes_of_warp(code.launch(), uint32_t(warp.index));
  context.threads = live_;
  if (!context.sm.with_data && warp.index == 0) context.own.smem.keep_track();
  SpecialRows(code).fill(file, {.ctaid = context.cta.ctaid(),
                                .cluster_rank = context.cluster_ctarank(),
                                .warp = uint32_t(warp.index),
                                .sm = uint64_t(context.sm.id),
                                .sms = uint64_t(context.profile.device.sms),
                                .grid = uint64_t(context.cta.launch())});
}

// ---------------------------------------------------------------- lanes

void PtxWarp::run() {
  groups_.add_ready({0, live_});
  while (live_ != 0 && !over_) {
    if (groups_.none_can_run()) groups_.release_parked();
    ptx::LaneGroup group = groups_.next();
    switch (run_group(group)) {
      case Stop::meet: groups_.add_ready(group); break;
      case Stop::yield: groups_.wait(group); break;
      case Stop::park: groups_.park(group); break;
      case Stop::exited: break;
      case Stop::over: over_ = true; break;
    }
  }
  settle_alu();
  if (!over_) return has_waited();
  for (;;) warp_.pass(1'000'000);  // whoever runs the simulation has stopped it
}

PtxWarp::Stop PtxWarp::run_group(ptx::LaneGroup& group) {
  const ptx::Program& program = code.program();
  const Instr* const first = program.code.data();
  const uint32_t end = uint32_t(program.code.size());
  const std::array<double, ptx::kCosts> costs = costs_;
  for (;;) {
    if (group.pc >= end) return live_ &= ~group.lanes, Stop::exited;
    const Instr& i = first[group.pc];
    executing_ = group.lanes;
    if (unknowns_ && is_unknown(i.guard)) return depends_on_data(i);
    const LaneMask lanes = group.lanes & i.guard_of(file);
    switch (i.kind) {
      case Kind::special:
        if (lanes) fill_changing(i);
        [[fallthrough]];
      case Kind::alu:
        if (lanes) {
          executing_ = lanes;
          if (marked_ > 0) pass_on_arrivals(i);
          i.alu(file, i, lanes);
          if (unknowns_) pass_on_unknown(i);
        }
        alu_cycles_ += costs[size_t(i.cost)];
        ++group.pc;
        break;
      case Kind::branch:
        alu_cycles_ += costs[size_t(i.cost)];
        current_ = group.pc;
        if (marked_ > 0) wait_for_row(i.guard);
        if (groups_.branch(group, lanes, i.target)) return Stop::meet;
        if (group.pc <= current_ && alu_cycles_ > 1000) settle_alu(), context.settle();
        // A loop that tries to take a lock: its holder may be a lane of this warp.
        if (group.pc <= current_ && std::exchange(tried_lock, false) && groups_.others()) return Stop::yield;
        continue;
      case Kind::branch_index: {
        const ptx::IndexedBranch& table = program.indexed_branches[i.detail];
        if (lanes == 0) {
          ++group.pc;
          break;
        }
        const uint64_t index = table.index.lane_value(file, std::countr_zero(lanes));
        LaneMask alike = 0;
        for (LaneMask left = lanes; left != 0; left &= left - 1)
          if (table.index.lane_value(file, std::countr_zero(left)) == index) alike |= left & -left;
        if (index >= table.targets.size())
          return fail("GM1", fmt::format("brx.idx with index {}, of {} targets", index, table.targets.size())),
                 Stop::over;
        if (alike != group.lanes)  // the others come again, with another index or past it
          groups_.split_off(group, group.lanes & ~alike, alike == lanes ? group.pc + 1 : group.pc);
        group.pc = table.targets[index];
        if (group.pc >= groups_.limit()) return Stop::meet;
        continue;
      }
      case Kind::exit:
        live_ &= ~lanes;
        group.lanes &= ~lanes;
        if (group.lanes == 0) return Stop::exited;
        ++group.pc;
        break;
      case Kind::memory:
        current_ = group.pc;
        if (lanes) {
          executing_ = lanes;
          settle_alu();
          if (unknowns_ && depends_on_unknown(program.accesses[i.detail].address)) return depends_on_data(i);
          if (!access_memory(i, lanes)) return Stop::over;
        } else {
          alu_cycles_ += costs[size_t(ptx::Cost::alu)];  // it is issued all the same
        }
        ++group.pc;
        break;
      case Kind::service: {
        current_ = group.pc;
        Stop stop = Stop::meet;
        if (lanes == 0) {
          ++group.pc;
          break;
        }
        executing_ = lanes;
        if (execute_service(group, i, lanes, stop)) return stop;
        break;
      }
      case Kind::nop: ++group.pc; break;
      case Kind::trap:
        current_ = group.pc;
        if (lanes == 0) {
          ++group.pc;
          break;
        }
        return fail("TR1", "trap"), Stop::over;
      case Kind::call:
        current_ = group.pc;
        if (lanes != 0 && !call(i, lanes)) return Stop::over;
        ++group.pc;
        break;
      case Kind::ret: current_ = group.pc; return not_implemented(std::string(program.text(i))), Stop::over;
      case Kind::unsupported:
        current_ = group.pc;
        if (lanes == 0) {
          ++group.pc;
          break;
        }
        return not_implemented(std::string(program.text(i))), Stop::over;
    }
    if (group.pc >= groups_.limit()) return Stop::meet;
  }
}

/// @return the group stops
bool PtxWarp::execute_service(ptx::LaneGroup& group, const Instr& i, LaneMask lanes, Stop& stop) {
  const PtxServiceEntry* entry = code.service(i);
  const ptx::Service& service = code.program().services[i.detail];
  if (!entry || code.refused(i))
    return stop = Stop::over, not_implemented(std::string(code.program().text(i))), true;
  if (const auto together = code.together(i); together != PtxServiceEntry::Together::any) {
    const bool masked = together == PtxServiceEntry::Together::mask && !service.operands.empty();
    LaneMask needed = live_;
    if (masked) needed &= LaneMask(service.operands.back().lane_value(file, std::countr_zero(lanes)));
    // Those that wait for a barrier will come when it completes.
    const bool missing = (needed & ~lanes) != 0 && lanes == group.lanes;
    if (missing && !group.alone) return stop = Stop::park, true;
    if (missing && masked)
      return fail("TC2", fmt::format("{} by {} lanes, of {} that its mask names: the others have gone another way",
                                     code.program().text(i), std::popcount(lanes), std::popcount(needed))),
             stop = Stop::over, true;
    context.lanes_meet(lanes);
  }
  group.alone = false;
  if (context.given_up && code.wait_of(group.pc))
    alu_cycles_ = 0;  // a loop that asks again: nothing has happened since
  else
    settle_alu();
  const bool has_result = code.has_result(i);
  if (marked_ > 0) {  // what it writes may be what it reads: that comes first
    for (size_t o = has_result || entry->accumulates ? 1 : 0; o < service.operands.size(); ++o)
      use(service.operands[o]);
    if (has_result && !entry->accumulates && !service.operands.empty()) overwrite(service.operands[0]);
  }
  bool follows_from_unknown = false;
  if (unknowns_) {
    for (size_t o = has_result ? 1 : 0; o < service.operands.size(); ++o) {
      const Operand& operand = service.operands[o];
      const bool matrix = entry->accumulates && operand.kind == Operand::Kind::vector;
      if (!depends_on_unknown(operand)) continue;
      if (entry->needs_values && !matrix) return stop = depends_on_data(i), true;
      follows_from_unknown = true;
    }
    if (has_result) known(service.operands[0]);
  }
  if (entry->span) does(*entry->span);
  ServiceCall call{{file, service, lanes}, *this, i, group.pc, code.loc(group.pc)};
  const PtxOutcome outcome = entry->run(call);
  if (over_ || outcome == PtxOutcome::stop || !context.cta.observer().violations().empty())
    return stop = Stop::over, true;
  if (follows_from_unknown && !entry->needs_values) {
    const Operand& to = service.operands[0];
    unknown(to.kind == Operand::Kind::pair ? to.elements[0] : to);
  }
  ++group.pc;
  if (outcome == PtxOutcome::gave_up && other_groups()) {
    stop = Stop::yield;
    return true;
  }
  if (outcome == PtxOutcome::done) groups_.made_progress();
  if (group.pc >= groups_.limit()) return stop = Stop::meet, true;
  return false;
}

// ---------------------------------------------------------------- time and registers

void PtxWarp::settle_alu() {
  if (alu_cycles_ <= 0) return;
  context.charge_private(std::exchange(alu_cycles_, 0));
}

/// A load from global memory has been issued.
uint32_t PtxWarp::next_of_burst(models::Cycles when) {
  if (++burst_loads_ <= kLoadsAlone) return 0;
  burst_ready_ = std::max(burst_ready_, when);
  return burst_;
}

void PtxWarp::arrives(Row row, uint8_t width, models::Cycles when, uint32_t burst) {
  for (const Row part : {row, row.next_half()}) {
    Mark* const mark = mark_of(part);
    if (!mark) return;
    if (mark->wgmma != 0 || mark->wgmma_read != 0) touch_in_flight(std::max(mark->wgmma, mark->wgmma_read), true);
    mark_ready(*mark, when, burst);
    if (width < 16) return;
  }
}

void PtxWarp::mark_ready(Mark& mark, models::Cycles when, uint32_t burst) {
  const bool was = mark.any();
  const LaneMask others = mark.ready != 0 ? mark.lanes & ~executing_ : 0;
  if (!others) mark.ready = 0, mark.burst = 0;
  mark.lanes = others;
  if (when != 0)
    mark.lanes |= executing_, mark.ready = std::max(mark.ready, when), mark.burst = std::max(mark.burst, burst);
  mark.tmem_load = 0;
  marked_ += int(mark.any()) - int(was);
}

void PtxWarp::loaded_from_tmem(Row row, uint32_t number) {
  Mark* const mark = mark_of(row);
  if (!mark) return;
  marked_ += !mark->any();
  *mark = {.tmem_load = number};
  tmem_rows_.push_back(number_of(row));
}

void PtxWarp::overwrite(const Operand& results) {
  if (results.kind == Operand::Kind::reg) {
    Mark* const mark = mark_of(results.row);
    if (!mark || !mark->any()) return;
    if (mark->tmem_load != 0) return wait_for_row(results.row);
    if (mark->wgmma != 0 || mark->wgmma_read != 0) touch_in_flight(std::max(mark->wgmma, mark->wgmma_read), true);
    mark_ready(*mark, 0);
  }
  for (const Operand& element : results.elements) overwrite(element);
}

void PtxWarp::tmem_loads_waited() {
  for (const uint32_t at : tmem_rows_)
    if (marks_[at].tmem_load != 0) marks_[at] = {}, --marked_;
  tmem_rows_.clear();
}

void PtxWarp::wait_for_row(Row row) {
  Mark* const mark = mark_of(row);
  if (!mark || !mark->any()) return;
  if (mark->wgmma != 0) return touch_in_flight(mark->wgmma, false);
  if (mark->wgmma_read != 0) return;  // a second reader
  if (mark->tmem_load == 0 && (mark->lanes & executing_) == 0) return;
  const Mark was = std::exchange(*mark, {});
  --marked_;
  if (was.tmem_load != 0) {
    context.tmem_register_read(was.tmem_load, code.loc(current_));
    for (const uint32_t at : tmem_rows_)
      if (marks_[at].tmem_load != 0 && marks_[at].tmem_load <= was.tmem_load) marks_[at] = {}, --marked_;
    return;
  }
  settle_alu();
  context.hold_issue(ready(was));
  if (was.burst == burst_) ++burst_, burst_loads_ = 0, burst_ready_ = 0;
}

/// A compiler may put a mov of what tcgen05.ld brings before tcgen05.wait::ld, as it knows of no other than the
/// registers' order.  ptxas makes no instruction of it: what the register holds is still on its way.
bool PtxWarp::copies_tmem_load(const Instr& i) {
  uint32_t number = 0;
  for (size_t r = 0; r < i.rows.size(); ++r)
    if (const Mark* const mark = i.written >> r & 1 ? nullptr : mark_of(i.rows[r]))
      number = std::max(number, mark->tmem_load);
  if (number == 0 || !code.program().text(i).starts_with("mov.")) return false;
  wait_for_row(i.guard);
  for (size_t r = 0; r < i.rows.size(); ++r)
    if (i.written >> r & 1) loaded_from_tmem(i.rows[r], number);
  return true;
}

/// PTX is not what the hardware issues: ptxas moves loads ahead of what uses them.  So arithmetic does not wait for
/// a load; its result is there when its operands are, and who makes something of it that others see waits.
void PtxWarp::pass_on_arrivals(const Instr& i) {
  current_ = uint32_t(&i - code.program().code.data());
  if (copies_tmem_load(i)) return;
  models::Cycles arrives = 0;
  uint32_t burst = 0;
  const auto look = [&](Row row) {
    const Mark* const mark = mark_of(row);
    if (!mark) return;
    if (mark->tmem_load != 0 || mark->wgmma != 0) return wait_for_row(row);
    if (mark->lanes & executing_) arrives = std::max(arrives, ready(*mark)), burst = std::max(burst, mark->burst);
  };
  for (size_t r = 0; r < i.rows.size(); ++r)
    if (!(i.written >> r & 1)) look(i.rows[r]);
  look(i.guard);
  const bool later = arrives > context.issue_cycle() + models::Cycles(alu_cycles_);
  for (size_t r = 0; r < i.rows.size(); ++r) {
    Mark* const mark = i.written >> r & 1 ? mark_of(i.rows[r]) : nullptr;
    if (!mark) continue;
    if (mark->wgmma != 0 || mark->wgmma_read != 0) touch_in_flight(std::max(mark->wgmma, mark->wgmma_read), true);
    if (mark->tmem_load == 0 && (later || mark->ready != 0))
      mark_ready(*mark, later ? arrives : 0, later ? burst : 0);
  }
}

void PtxWarp::use(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::reg: wait_for_row(operand.row); break;
    case Operand::Kind::address: wait_for_row(operand.row); [[fallthrough]];
    case Operand::Kind::vector:
    case Operand::Kind::pair:
      for (const Operand& element : operand.elements) use(element);
      break;
    default: break;
  }
}

// ---------------------------------------------------------------- runs without data

void PtxWarp::set_unknown(Row row, bool unknown, LaneMask lanes) {
  if (row.area() != 0 || row.at == 0) return;
  LaneMask& of_row = unknown_[number_of(row)];
  of_row = unknown ? of_row | lanes : of_row & ~lanes;
  unknowns_ |= unknown;
}

void PtxWarp::unknown(const Operand& operand) {
  if (operand.kind == Operand::Kind::reg) set_unknown(operand.row, true, executing_);
}

void PtxWarp::known(const Operand& results) {
  if (results.kind == Operand::Kind::reg || results.kind == Operand::Kind::predicate)
    set_unknown(results.row, false, executing_);
  for (const Operand& element : results.elements) known(element);
}

void PtxWarp::pass_on_unknown(const Instr& i) {
  bool reads = false;
  for (size_t r = 0; r < i.rows.size(); ++r)
    reads |= !(i.written >> r & 1) && i.rows[r].at != 0 && is_unknown(i.rows[r]);
  for (size_t r = 0; r < i.rows.size(); ++r)
    if (i.written >> r & 1) set_unknown(i.rows[r], reads, executing_);
}

bool PtxWarp::depends_on_unknown(const Operand& operand) const {
  switch (operand.kind) {
    case Operand::Kind::reg:
    case Operand::Kind::predicate: return is_unknown(operand.row);
    case Operand::Kind::address:
      if (is_unknown(operand.row)) return true;
      break;
    default: break;
  }
  return std::any_of(operand.elements.begin(), operand.elements.end(),
                     [&](const Operand& o) { return depends_on_unknown(o); });
}

PtxWarp::Stop PtxWarp::depends_on_data(const Instr& i) {
  current_ = uint32_t(&i - code.program().code.data());
  fail("not-implemented", fmt::format("{} at {} depends on data, and this run has none: run with --data full",
                                      code.program().text(i), place(i)));
  return Stop::over;
}

// ---------------------------------------------------------------- ends

PtxOutcome PtxWarp::fail(const char* id, const std::string& what) {
  context.at(code.loc(current_), kAllLanes);
  context.violate(id, what);
  over_ = true;
  return PtxOutcome::stop;
}

PtxOutcome PtxWarp::not_implemented(const std::string& what) {
  return fail("not-implemented",
              fmt::format("not implemented: {} at {}", what, place(code.program().code[current_])));
}

}  // namespace sm100::sim
