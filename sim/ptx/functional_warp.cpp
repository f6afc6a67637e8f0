// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/functional_warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/ptx/device_calls.h"

namespace sm100::sim {

using ptx::Instr;
using ptx::Kind;
using ptx::LaneGroup;
using ptx::LaneMask;
using ptx::Operand;

namespace {

/// A group that executes so many instructions lets other groups and warps go: they may hold what it spins for.
constexpr uint64_t kSlice = 20'000;
/// A run of so few instructions that ends in a poll was nothing but polls.
constexpr uint64_t kPollOnly = 40;
constexpr uint64_t kDivisionCycles = 62;  // issue.division of the profiles

}  // namespace

FunctionalWarp::FunctionalWarp(FunctionalCta& cta, uint32_t index)
    : cta(cta),
      code(cta.code),
      file(code.code.program().register_bytes, code.code.constants(cta.rank), code.code.windows(cta.rank)),
      index(index),
      local_(size_t(ptx::kLanes) * (code.code.program().local_bytes + code.code.program().call_param_bytes)),
      accesses_(code.launch.memory ? code.launch.memory->accesses() : nullptr) {}

void FunctionalWarp::start() {
  const auto sms = uint64_t(code.launch.sms);
  file.clear();
  code.specials.fill(file, {.ctaid = cta.id,
                            .cluster_rank = cta.rank,
                            .warp = index,
                            .sm = cta.index % sms,
                            .sms = sms,
                            .grid = code.launch.grid_id});
  std::ranges::fill(local_, uint8_t{0});
  live_ = lanes_of_warp(code.code.launch(), index);
  groups_.restart(live_);
  shared_ = {uint64_t{cta.rank} << kClusterRankShift, cta.shared.size(), cta.shared.data(), 0};
  places_.forget_all();
  current_ = 0;
  executed_ = slice_end_ = divisions_ = 0;
  blocked_ = in_vain_ = tried_lock = false;
  reduction_ = nullptr;
  cluster_ticket = 0;
}

FunctionalWarp::Stop FunctionalWarp::run() {
  const uint64_t before = executed_, divided = divisions_;
  slice_end_ = executed_ + kSlice;
  Stop stop = Stop::exited;
  while (live_ != 0) {
    if (groups_.none_can_run()) groups_.release_parked();
    LaneGroup group = groups_.next();
    stop = run_group(group);
    if (stop == Stop::failed) break;
    if (stop == Stop::blocked) {
      groups_.add_ready(group);
      break;
    }
    if (stop == Stop::spins || stop == Stop::slice) {
      groups_.wait(group);
      if (stop == Stop::slice || groups_.none_is_ready()) break;
    }
    stop = Stop::exited;
  }
  const uint64_t instructions = executed_ - before;
  in_vain_ = stop == Stop::spins && instructions <= kPollOnly;
  cta.gang.warp_instructions += instructions;
  cta.gang.issue_cycles += instructions + (divisions_ - divided) * (kDivisionCycles - 1);
  return stop;
}

/// A group that meets others, parks or exits has been put in its place; the answer is then Stop::exited.
FunctionalWarp::Stop FunctionalWarp::run_group(LaneGroup& group) {
  const ptx::Program& program = code.code.program();
  const Instr* const first = program.code.data();
  const uint32_t end = uint32_t(program.code.size());
  for (;;) {
    if (group.pc >= end) return live_ &= ~group.lanes, Stop::exited;
    if (const uint32_t run_end = code.run_end(group.pc); run_end > group.pc) {
      const uint32_t limit = groups_.limit(), to = limit > group.pc ? std::min(run_end, limit) : group.pc + 1;
      if (!compute(group.pc, to, group.lanes)) return Stop::failed;
      group.pc = to;
      if (to >= limit) return groups_.add_ready(group), Stop::exited;
      continue;
    }
    const Instr& i = first[group.pc];
    const LaneMask lanes = group.lanes & i.guard_of(file);
    ++executed_;
    current_ = group.pc;
    if (i.kind == Kind::branch) {
      const bool stops = groups_.branch(group, lanes, i.target);
      if (group.pc <= current_ && lanes != 0) {
        if (code.spins(current_)) return Stop::spins;
        if (executed_ >= slice_end_) return Stop::slice;
        // A loop that tries to take a lock: its holder may be a lane of this warp.
        if (std::exchange(tried_lock, false) && groups_.others()) return groups_.wait(group), Stop::exited;
      }
      if (stops) return groups_.add_ready(group), Stop::exited;
      continue;
    }
    if (i.kind == Kind::exit) {
      live_ &= ~lanes;
      group.lanes &= ~lanes;
      if (group.lanes == 0) return Stop::exited;
    } else if (lanes != 0) {
      Stop stop = Stop::exited;
      switch (i.kind) {
        case Kind::service:
          if (!service(group, i, lanes, stop)) return stop;
          break;
        case Kind::special:
          fill_clocks(file, program, executed_, code.launch.sm_clock_ghz);
          i.alu(file, i, lanes);
          break;
        case Kind::branch_index: {
          const ptx::IndexedBranch& table = program.indexed_branches[i.detail];
          const uint64_t to = table.index.lane_value(file, std::countr_zero(lanes));
          LaneMask alike = 0;
          for (LaneMask left = lanes; left != 0; left &= left - 1)
            if (table.index.lane_value(file, std::countr_zero(left)) == to) alike |= left & -left;
          if (to >= table.targets.size())
            return fail(FunctionalEnd::out_of_bounds, "GM1", std::countr_zero(lanes),
                        fmt::format("index {} of {} targets", to, table.targets.size())),
                   Stop::failed;
          if (alike != group.lanes)
            groups_.split_off(group, group.lanes & ~alike, alike == lanes ? group.pc + 1 : group.pc);
          group.pc = table.targets[to] - 1;
          break;
        }
        case Kind::nop: break;
        case Kind::call:
          if (!call(i, lanes)) return Stop::failed;
          break;
        case Kind::trap: return fail(FunctionalEnd::trap, "TR1", std::countr_zero(lanes), "trap"), Stop::failed;
        default: return not_implemented(functional_missing(program, i)), Stop::failed;
      }
    }
    if (++group.pc >= groups_.limit()) return groups_.add_ready(group), Stop::exited;
  }
}

/// Instructions of a run, one after the other.
bool FunctionalWarp::compute(uint32_t from, uint32_t to, LaneMask group) {
  const Instr* i = &code.code.program().code[from];
  for (uint32_t at = from; at != to; ++at, ++i) {
    const LaneMask lanes = group & i->guard_of(file);
    if (lanes == 0) continue;
    if (i->alu) {
      i->alu(file, *i, lanes);
    } else {  // moves bytes
      current_ = at;
      if (!access(*i, lanes)) return executed_ += at + 1 - from, false;
    }
  }
  executed_ += to - from;
  divisions_ += code.divisions(from, to);
  return true;
}

namespace {

/// PTX wants all lanes of the warp that have not exited: .aligned, or a bar, which is a barrier.aligned.
bool wants_all_lanes(const ptx::Service& service, const FunctionalService& entry) {
  if (entry.together != PtxServiceEntry::Together::all) return false;
  const bool bar = entry.opcode.starts_with("bar.");
  return bar || service.modifiers.has(".aligned");
}

}  // namespace

/// @return the group goes on with the next instruction
bool FunctionalWarp::service(LaneGroup& group, const Instr& i, LaneMask lanes, Stop& stop) {
  using Together = PtxServiceEntry::Together;
  const FunctionalService* entry = code.services[i.detail];
  if (!entry) return not_implemented(functional_missing(code.code.program(), i)), stop = Stop::failed, false;
  const ptx::Service& service = code.code.program().services[i.detail];
  if (entry->together != Together::any) {
    const bool masked = entry->together == Together::mask && !service.operands.empty();
    LaneMask needed = live_;
    if (masked) needed &= LaneMask(service.operands.back().lane_value(file, std::countr_zero(lanes)));
    const bool missing = (needed & ~lanes) != 0 && lanes == group.lanes;
    if (missing && !group.alone) return groups_.park(group), stop = Stop::exited, false;
    if (missing && masked)
      return fail(FunctionalEnd::deadlock, "TC2", std::countr_zero(lanes),
                  fmt::format("{} lanes, of {} that its mask names: the others have gone another way",
                              std::popcount(lanes), std::popcount(needed))),
             stop = Stop::failed, false;
    if ((live_ & ~lanes) != 0 && wants_all_lanes(service, *entry))
      return fail(
                 FunctionalEnd::divergent, "TC2", std::countr_zero(lanes),
                 fmt::format("{} of the {} lanes that have not exited: an .aligned instruction wants them all, the "
                             "others have gone another way",
                             std::popcount(lanes), std::popcount(live_))),
             stop = Stop::failed, false;
  }
  group.alone = false;
  if (!entry->run(*this, ServiceOperands{file, service, lanes}, i)) return stop = Stop::failed, false;
  if (!blocked_) return true;
  ++group.pc;
  return stop = Stop::blocked, false;
}

/// vprintf and __assertfail.
bool FunctionalWarp::call(const Instr& i, LaneMask lanes) {
  const ptx::Program& program = code.code.program();
  const ptx::Call& c = program.calls[i.detail];
  if (const std::string why = call_missing(c); !why.empty()) return not_implemented(why);
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const ReadGeneric read = [&](uint64_t address, uint32_t bytes) -> const uint8_t* {
      return find_bytes(ptx::Space::generic, address, bytes, lane, false).bytes;
    };
    const DeviceCall called(c, file, lane, local_bytes(lane, program.local_bytes, program.call_param_bytes),
                            program.call_param_bytes);
    if (device_function(c.callee) == DeviceFunction::assertion)
      return fail(FunctionalEnd::assertion, "TR2", lane, called.assertion(read));
    const auto printed = called.print(read);
    if (!printed)
      return fail(FunctionalEnd::out_of_bounds, "GM1", lane, "format or arguments lie outside of every allocation");
    cta.printed += *printed;
  }
  return true;
}

// ---------------------------------------------------------------- barriers

void FunctionalWarp::block_at(FunctionalCta::Barrier& barrier, uint64_t generation,
                              const ServiceOperands* reduction) {
  blocked_ = true;
  barrier_ = &barrier;
  generation_ = generation;
  reduction_ = reduction ? &reduction->service : nullptr;
  reducing_ = reduction ? reduction->lanes : 0;
}

void FunctionalWarp::block_at_cluster(uint64_t generation) {
  blocked_ = true;
  barrier_ = nullptr;
  generation_ = generation;
}

bool FunctionalWarp::may_run() {
  if (!blocked_) return true;
  const uint64_t completed = barrier_ ? barrier_->generation : cta.gang.cluster_generation;
  if (completed < generation_) return false;
  blocked_ = false;
  if (const ptx::Service* service = std::exchange(reduction_, nullptr)) {
    const ServiceOperands c{file, *service, reducing_};
    const uint32_t yes = barrier_->result_yes;
    if (c.has(".popc"))
      c.set_all(c.operand(0), yes);
    else
      c.set_predicate(c.operand(0), (c.has(".and") ? yes == barrier_->result_asked : yes > 0) ? ptx::kAllLanes : 0);
  }
  return true;
}

// ---------------------------------------------------------------- ends

std::string FunctionalWarp::instruction() const {
  const ptx::Program& program = code.code.program();
  const Instr& i = program.code[current_];
  return fmt::format("{} at {}", program.text(i), program.place(i));
}

std::string FunctionalWarp::where() const {
  const ptx::Program& program = code.code.program();
  uint32_t at = current_;
  if (!blocked_)
    for (const ptx::Wait& wait : program.waits)
      if (at >= wait.first && at <= wait.last) at = wait.poll;
  return fmt::format("{} at {}", program.text(program.code[at]), program.place(program.code[at]));
}

bool FunctionalWarp::fail(FunctionalEnd end, const char* check, int lane, const std::string& what) {
  const uint32_t thread = index * ptx::kLanes + uint32_t(lane);
  const Dim3 b = code.launch.block;
  const std::string said =
      end == FunctionalEnd::not_implemented
          ? fmt::format("{}, at {}", what, code.code.program().place(code.code.program().code[current_]))
          : fmt::format("{}: {}", instruction(), what);
  cta.gang.failed = true;
  cta.gang.failure = {.end = end,
                      .text = fmt::format("{}; thread ({}, {}, {}) of CTA ({}, {}, {}), entry {}", said,
                                          thread % b.x, thread / b.x % b.y, thread / b.x / b.y, cta.id.x, cta.id.y,
                                          cta.id.z, code.launch.entry->name),
                      .place = code.code.program().place(code.code.program().code[current_]),
                      .check = check,
                      .ctaid = cta.id,
                      .warp = int(index),
                      .lane = lane};
  return false;
}

}  // namespace sm100::sim
