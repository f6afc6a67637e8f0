// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp on their way through a program: groups, branches, registers that are on their way.
#include "sim/ptx/ptx_warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sm100::sim {

using ptx::Instr;
using ptx::Kind;
using ptx::LaneMask;
using ptx::Operand;
using ptx::Row;

namespace {

/// Cycles of a division, which is a routine of many instructions.
constexpr double kDivisionCycles = 65;
/// So many rounds in which every group has waited in vain: whoever is first waits on, and the run may be found to
/// hang.
constexpr int kVainRounds = 64;

uint32_t threads_of(const PtxLaunch& launch) { return launch.block.x * launch.block.y * launch.block.z; }

}  // namespace

PtxWarp::PtxWarp(const PtxCode& code, std::span<const uint8_t> parameters, Warp& warp,
                 const models::DeviceProfile& profile, FaultInterceptor* faults)
    : context(warp, profile, faults),
      file(code.program().register_bytes, code.constants(warp.cta.cluster_rank()),
           code.windows(warp.cta.cluster_rank())),
      code(code),
      warp_(warp),
      parameters_(parameters),
      local_(size_t(ptx::kLanes) * (code.program().local_bytes + code.program().call_param_bytes)),
      marks_(code.row_starts()),
      unknown_(code.program().register_bytes / 4 + 1) {
  const uint32_t first = uint32_t(warp.index) * ptx::kLanes, threads = threads_of(code.launch());
  const uint32_t own = std::min<uint32_t>(ptx::kLanes, threads - first);
  live_ = own >= 32 ? kAllLanes : (1u << own) - 1;
  fill_specials();
}

// ---------------------------------------------------------------- lanes

void PtxWarp::run() {
  ready_.push_back({0, live_});
  while (live_ != 0 && !over_) {
    if (ready_.empty() && waiting_.empty()) {  // all that are left wait for lanes that will not come
      ready_.swap(parked_);
      for (Group& group : ready_) group.parked = UINT32_MAX;  // the instruction says what is missing
    }
    Group group = next_group();
    switch (run_group(group)) {
      case Stop::meet: add_ready(group); break;
      case Stop::yield: waiting_.push_back(group); break;
      case Stop::park: park(group); break;
      case Stop::exited: break;
      case Stop::over: over_ = true; break;
    }
  }
  settle_alu();
  if (!over_) return has_waited();
  for (;;) warp_.pass(1'000'000);  // whoever runs the simulation has stopped it
}

/// The ready group with the lowest instruction; if none is ready, those that have waited in vain try again.
PtxWarp::Group PtxWarp::next_group() {
  if (ready_.empty()) {
    if (waiting_.size() > 1) ++vain_rounds_;
    if (vain_rounds_ < kVainRounds) {
      const Group group = waiting_.front();
      waiting_.erase(waiting_.begin());
      limit_ = UINT32_MAX;
      return group;
    }
    std::swap(ready_, waiting_);
  }
  const auto lowest =
      std::min_element(ready_.begin(), ready_.end(), [](const Group& a, const Group& b) { return a.pc < b.pc; });
  const Group group = *lowest;
  ready_.erase(lowest);
  set_limit();
  return group;
}

void PtxWarp::set_limit() {
  limit_ = UINT32_MAX;
  for (const Group& other : ready_) limit_ = std::min(limit_, other.pc);
}

/// Groups at one instruction become one.
void PtxWarp::add_ready(Group group) {
  for (std::vector<Group>* groups : {&ready_, &waiting_, &parked_})
    for (auto other = groups->begin(); other != groups->end(); ++other)
      if (other->pc == group.pc) {
        group.lanes |= other->lanes, group.parked = 0;
        groups->erase(other);
        return add_ready(group);
      }
  ready_.push_back(group);
}

/// Waits for others at this instruction, or goes on with those that wait there.
void PtxWarp::park(Group group) {
  const bool met = std::any_of(parked_.begin(), parked_.end(), [&](const Group& other) { return other.pc == group.pc; });
  if (met) return add_ready(group);
  parked_.push_back(group);
}

/// Taken by some lanes only, the lower of the two ways goes first.
bool PtxWarp::branch(Group& group, const Instr& i, LaneMask taken, uint32_t target) {
  const LaneMask others = group.lanes & ~taken;
  (void)i;
  if (others == 0) {
    group.pc = target;
  } else if (taken == 0) {
    ++group.pc;
  } else {
    const Group a{group.pc + 1, others}, b{target, taken};
    group = a.pc < b.pc ? a : b;
    add_ready(a.pc < b.pc ? b : a);
    set_limit();
  }
  if (group.pc < limit_) return false;
  return true;
}

PtxWarp::Stop PtxWarp::run_group(Group& group) {
  const ptx::Program& program = code.program();
  const Instr* const first = program.code.data();
  const uint32_t end = uint32_t(program.code.size());
  const double alu_cost = context.issue.alu;
  for (;;) {
    if (group.pc >= end) return live_ &= ~group.lanes, Stop::exited;
    const Instr& i = first[group.pc];
    if (unknowns_ && is_unknown(i.guard)) return depends_on_data(i);
    const LaneMask lanes = group.lanes & i.guard_of(file);
    switch (i.kind) {
      case Kind::special:
        if (lanes) fill_changing(i);
        [[fallthrough]];
      case Kind::alu:
        if (lanes) {
          if (marked_ > 0) pass_on_arrivals(i);
          i.alu(file, i, lanes);
          if (unknowns_) pass_on_unknown(i, lanes);
        }
        if (i.cost == ptx::Cost::alu)
          alu_cycles_ += alu_cost;
        else if (i.cost == ptx::Cost::division)
          alu_cycles_ += kDivisionCycles;
        ++group.pc;
        break;
      case Kind::branch:
        if (!i.uniform) alu_cycles_ += alu_cost;
        current_ = group.pc;
        if (marked_ > 0) wait_for_row(i.guard);
        if (branch(group, i, lanes, i.target)) return Stop::meet;
        if (group.pc <= current_ && alu_cycles_ > 1000) settle_alu(), context.settle();
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
        if (alike != group.lanes) {  // the others come again, with another index or past it
          add_ready({alike == lanes ? group.pc + 1 : group.pc, group.lanes & ~alike});
          group.lanes = alike;
          set_limit();
        }
        group.pc = table.targets[index];
        if (group.pc >= limit_) return Stop::meet;
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
          settle_alu();
          if (unknowns_ && depends_on_unknown(program.accesses[i.detail].address)) return depends_on_data(i);
          if (!access_memory(i, lanes)) return Stop::over;
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
      case Kind::ret: current_ = group.pc; return not_implemented(std::string(program.text(i))), Stop::over;
      case Kind::unsupported:
        current_ = group.pc;
        if (lanes == 0) {
          ++group.pc;
          break;
        }
        return not_implemented(std::string(program.text(i))), Stop::over;
    }
    if (group.pc >= limit_) return Stop::meet;
  }
}

/// @return the group stops
bool PtxWarp::execute_service(Group& group, const Instr& i, LaneMask lanes, Stop& stop) {
  const PtxServiceEntry* entry = code.service(i);
  const ptx::Service& service = code.program().services[i.detail];
  if (!entry || code.refused(i))
    return stop = Stop::over, not_implemented(std::string(code.program().text(i))), true;
  if (entry->together != PtxServiceEntry::Together::any) {
    const bool masked = entry->together == PtxServiceEntry::Together::mask && !service.operands.empty();
    LaneMask needed = live_;
    if (masked) needed &= LaneMask(service.operands.back().lane_value(file, std::countr_zero(lanes)));
    // Those that wait for a barrier will come when it completes.
    const bool missing = (needed & ~lanes) != 0 && lanes == group.lanes;
    if (missing && group.parked != UINT32_MAX) return stop = Stop::park, true;
    if (missing && masked)
      return fail("TC2", fmt::format("{} by {} lanes, of {} that its mask names: the others have gone another way",
                                     code.program().text(i), std::popcount(lanes), std::popcount(needed))),
             stop = Stop::over, true;
  }
  group.parked = 0;
  if (context.given_up && code.wait_of(group.pc))
    alu_cycles_ = 0;  // a loop that asks again: nothing has happened since
  else
    settle_alu();
  if (marked_ > 0)
    for (const Operand& operand : service.operands) use(operand);
  if (unknowns_ && entry->needs_values)
    for (const Operand& operand : service.operands)
      if (depends_on_unknown(operand)) return stop = depends_on_data(i), true;
  if (entry->span) does(*entry->span);
  ServiceCall call{*this, service, i, group.pc, lanes, code.loc(group.pc)};
  const PtxOutcome outcome = entry->run(call);
  if (over_ || outcome == PtxOutcome::stop || !context.cta.observer().violations().empty())
    return stop = Stop::over, true;
  if (unknowns_ && !entry->needs_values && !service.operands.empty() &&
      std::any_of(service.operands.begin(), service.operands.end(),
                  [&](const Operand& o) { return depends_on_unknown(o); })) {
    const Operand& to = service.operands[0];
    unknown(to.kind == Operand::Kind::pair ? to.elements[0] : to);
  }
  ++group.pc;
  if (outcome == PtxOutcome::gave_up && other_groups()) {
    stop = Stop::yield;
    return true;
  }
  if (outcome == PtxOutcome::done) vain_rounds_ = 0;
  if (group.pc >= limit_) return stop = Stop::meet, true;
  return false;
}

// ---------------------------------------------------------------- time and registers

void PtxWarp::settle_alu() {
  if (alu_cycles_ <= 0) return;
  context.charge_private(std::exchange(alu_cycles_, 0));
}

void PtxWarp::arrives(Row row, uint8_t width, models::Cycles when) {
  if (row.area() != 0) return;
  for (const Row part : {row, row.next_half()}) {
    Mark& mark = marks_[part.offset() / PtxCode::kRowAlign];
    marked_ += mark.ready == 0 && mark.tmem_load == 0;
    mark = {when, 0};
    if (width < 16) return;
  }
}

void PtxWarp::loaded_from_tmem(Row row, uint32_t number) {
  if (row.area() != 0) return;
  const uint32_t at = row.offset() / PtxCode::kRowAlign;
  marked_ += marks_[at].ready == 0 && marks_[at].tmem_load == 0;
  marks_[at] = {0, number};
  tmem_rows_.push_back(at);
}

void PtxWarp::tmem_loads_waited() {
  for (const uint32_t at : tmem_rows_)
    if (marks_[at].tmem_load != 0) marks_[at] = {}, --marked_;
  tmem_rows_.clear();
}

void PtxWarp::wait_for_row(Row row) {
  if (row.area() != 0) return;
  Mark& mark = marks_[row.offset() / PtxCode::kRowAlign];
  if (mark.ready == 0 && mark.tmem_load == 0) return;
  const Mark was = std::exchange(mark, {});
  --marked_;
  if (was.tmem_load != 0) {
    context.tmem_register_read(was.tmem_load, code.loc(current_));
    for (const uint32_t at : tmem_rows_)
      if (marks_[at].tmem_load != 0 && marks_[at].tmem_load <= was.tmem_load) marks_[at] = {}, --marked_;
    return;
  }
  settle_alu();
  context.hold_issue(was.ready);
}

/// PTX is not what the hardware issues: ptxas moves loads ahead of what uses them.  So arithmetic does not wait for
/// a load; its result is there when its operands are, and who makes something of it that others see waits.
void PtxWarp::pass_on_arrivals(const Instr& i) {
  current_ = uint32_t(&i - code.program().code.data());
  models::Cycles ready = 0;
  const auto look = [&](Row row) {
    if (row.area() != 0 || row.at == 0) return;
    Mark& mark = marks_[row.offset() / PtxCode::kRowAlign];
    if (mark.tmem_load != 0) return wait_for_row(row);
    ready = std::max(ready, mark.ready);
  };
  for (size_t r = 1; r < i.rows.size(); ++r) look(i.rows[r]);
  look(i.guard);
  const Row to = i.rows[0];
  if (to.area() != 0 || to.at == 0) return;
  Mark& mark = marks_[to.offset() / PtxCode::kRowAlign];
  if (mark.tmem_load != 0) return;
  const bool later = ready > context.issue_cycle() + models::Cycles(alu_cycles_);
  marked_ += int(later) - int(mark.ready != 0);
  mark.ready = later ? ready : 0;
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

void PtxWarp::unknown(const Operand& operand) {
  if (operand.kind != Operand::Kind::reg || operand.row.area() != 0) return;
  unknown_[operand.row.offset() / 4] = unknowns_ = true;
}

/// The first row is what an instruction writes; a set predicate may have a second one.
void PtxWarp::pass_on_unknown(const Instr& i, LaneMask lanes) {
  bool reads = false;
  for (size_t r = 1; r < i.rows.size(); ++r) reads |= i.rows[r].at != 0 && is_unknown(i.rows[r]);
  const Row to = i.rows[0];
  if (to.area() != 0 || to.at == 0) return;
  if (reads)
    unknown_[to.offset() / 4] = true;
  else if (lanes == live_)
    unknown_[to.offset() / 4] = false;
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
