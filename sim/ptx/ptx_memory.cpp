// SPDX-License-Identifier: Apache-2.0
// ld and st of PTX: which space an address lies in, and which registers get what (PTX 9.7.9.8, .11).
#include <fmt/format.h>

#include <cstring>

#include "kernels/isa/instructions/catalogue.h"
#include "sim/ptx/device_calls.h"
#include "sim/ptx/lane_memory.h"
#include "sim/ptx/ptx_warp.h"

namespace sm100::sim {

using namespace instructions;
using PtxAccess = ptx::Access;
using ptx::LaneMask;
using ptx::Operand;
using ptx::Space;

namespace {

/// The space of one lane's address, and the address in it.
struct Place {
  Space space;
  uint64_t address;
  bool cluster;
};

Place place_of(const PtxAccess& access, const ptx::Windows& windows, uint64_t address) {
  if (access.space != Space::generic && access.space != Space::none) return {access.space, address, access.cluster};
  if (windows.shared.has(address)) return {Space::shared, address - windows.shared.base, true};
  if (windows.param.has(address)) return {Space::param, address - windows.param.base, false};
  if (windows.local.has(address)) return {Space::local, address - windows.local.base, false};
  if (windows.constant.has(address)) return {Space::constant, address, false};
  return {Space::global, address, false};
}

}  // namespace

const uint8_t* PtxWarp::parameter_bytes(uint64_t offset, uint64_t bytes) const {
  if (offset + bytes <= parameters_.size()) return parameters_.data() + offset;
  static const uint8_t zeros[128] = {};
  return zeros;
}

uint8_t* PtxWarp::local_bytes(int lane, uint64_t offset, uint64_t bytes) {
  const uint64_t each = code.program().local_bytes + code.program().call_param_bytes;
  if (offset + bytes > each) return nullptr;
  return local_.data() + size_t(lane) * each + offset;
}

const uint8_t* PtxWarp::readable(uint64_t address, uint32_t bytes, int lane) {
  const ptx::Windows& w = file.windows;
  if (w.shared.has(address)) {
    const ClusterSmemAddr at{uint32_t(address - w.shared.base)};
    const bool own = at.rank() == context.cluster_ctarank() && context.own.smem.contains(at.offset(), bytes);
    return own ? context.own.smem.data(at.offset()) : nullptr;
  }
  if (w.local.has(address)) return local_bytes(lane, address - w.local.base, bytes);
  if (w.param.has(address)) return parameter_bytes(address - w.param.base, bytes);
  if (w.constant.has(address)) {
    const uint64_t at = address - w.constant.base;
    const std::vector<uint8_t>& all = code.constant_bytes();
    return bytes <= all.size() - at ? all.data() + at : nullptr;
  }
  return context.cta.gpu().memory().data({address}, bytes);
}

/// vprintf and __assertfail.
bool PtxWarp::call(const ptx::Instr& i, LaneMask lanes) {
  const ptx::Program& program = code.program();
  const ptx::Call& c = program.calls[i.detail];
  if (const std::string why = call_missing(c); !why.empty()) return not_implemented(why), false;
  settle_alu();
  context.at(code.loc(current_), lanes);
  context.charge_private(context.issue.alu);
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const ReadGeneric read = [&](uint64_t address, uint32_t bytes) { return readable(address, bytes, lane); };
    const DeviceCall called(c, file, lane, local_bytes(lane, program.local_bytes, program.call_param_bytes),
                            program.call_param_bytes);
    if (device_function(c.callee) == DeviceFunction::assertion) {
      const uint32_t thread = uint32_t(warp_.index) * ptx::kLanes + uint32_t(lane);
      return fail("TR2", fmt::format("{}; thread {}", called.assertion(read), thread)), false;
    }
    const auto printed = called.print(read);
    if (!printed) return fail("GM1", "vprintf: format or arguments lie outside of every allocation"), false;
    context.cta.observer().print(context.cta.linear_id(), *printed);
  }
  for (const Operand& o : c.results) {
    if (marked_ > 0) overwrite(o);
    if (unknowns_) known(o);
  }
  return true;
}

bool PtxWarp::access_memory(const ptx::Instr& i, LaneMask lanes) {
  const PtxAccess& access = code.program().accesses[i.detail];
  const uint32_t element = uint32_t(std::max(1, ptx::bytes(access.type))), bytes = element * access.vector;
  if (marked_ > 0) {
    use(access.address);
    if (access.store)
      for (const Operand& o : access.data) use(o);
  }
  if (bytes > kLaneBytes)
    return not_implemented(fmt::format("{} of {} bytes", code.program().text(i), bytes)), false;
  static_assert(sizeof lane_values_[0] == kLaneBytes);
  const LaneBytes values = lane_values_;
  if (access.store) {
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      for (size_t v = 0; v < access.data.size(); ++v) {
        const Operand& o = access.data[v];
        if (element == 16) {
          const uint64_t halves[2] = {file.read<uint64_t>(o.row)[lane],
                                      file.read<uint64_t>(o.row.next_half())[lane]};
          std::memcpy(values[lane], halves, 16);
        } else {
          const uint64_t bits = o.kind == Operand::Kind::predicate ? 0 : o.lane_value(file, lane);
          std::memcpy(values[lane] + v * element, &bits, element);
        }
      }
    }
  }
  // Lanes of one space together.
  for (LaneMask left = lanes; left != 0;) {
    LaneArray<ClusterSmemAddr, 1> shared{};
    LaneArray<GlobalAddr, 1> global{};
    LaneMask alike = 0;
    const Place first = place_of(access, file.windows, access.address.lane_address(file, std::countr_zero(left)));
    for (LaneMask rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const Place place = place_of(access, file.windows, access.address.lane_address(file, lane));
      if (place.space != first.space) continue;
      alike |= rest & -rest;
      shared(lane) = {uint32_t(place.address)}, global(lane) = {place.address};
    }
    left &= ~alike;
    executing_ = alike;
    models::Cycles arrives = 0;
    bool unknown = access.store && std::any_of(access.data.begin(), access.data.end(),
                                               [&](const Operand& o) { return follows_from_data(o); });
    if (!access_space(i, access, first.space, first.cluster, alike, shared, global, bytes, values, arrives,
                      unknown))
      return false;
    if (!context.cta.observer().violations().empty()) return false;
    if (access.store) continue;
    const uint32_t burst = first.space == Space::global && arrives > 0 ? next_of_burst(arrives) : 0;
    for (LaneMask rest = alike; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      for (size_t v = 0; v < access.data.size(); ++v) {
        const Operand& o = access.data[v];
        if (o.kind == Operand::Kind::sink) continue;
        if (element == 16) {
          uint64_t halves[2];
          std::memcpy(halves, values[lane], 16);
          file.write<uint64_t>(o.row)[lane] = halves[0], file.write<uint64_t>(o.row.next_half())[lane] = halves[1];
        } else {
          uint64_t bits = 0;
          std::memcpy(&bits, values[lane] + v * element, element);
          o.set_lane(file, lane, widened(access, bits, element));
        }
      }
    }
    for (const Operand& o : access.data) {
      if (o.kind != Operand::Kind::reg) continue;
      if (unknown || unknowns_) set_unknown(o.row, unknown, alike);
      if (arrives > 0 || marked_ > 0) this->arrives(o.row, o.width, arrives, burst);
    }
  }
  return true;
}

namespace {

template <class Array>
bool uniform(const Array& addresses, LaneMask lanes) {
  const auto first = addresses[std::countr_zero(lanes)][0];
  for (LaneMask left = lanes; left != 0; left &= left - 1)
    if (!(addresses[std::countr_zero(left)][0] == first)) return false;
  return true;
}

}  // namespace

/// Where a form of the seam fits, it is taken: the same instruction takes the same time whoever issues it.
bool PtxWarp::access_space(const ptx::Instr& i, const PtxAccess& access, Space space, bool cluster, LaneMask lanes,
                           const LaneArray<ClusterSmemAddr, 1>& shared, const LaneArray<GlobalAddr, 1>& global,
                           uint32_t bytes, uint8_t (*values)[32], models::Cycles& arrives, bool& unknown) {
  const sm100::Loc loc = code.loc(current_);
  const int first = std::countr_zero(lanes);
  const auto everywhere = [&](const void* from) {
    for (LaneMask left = lanes; left != 0; left &= left - 1)
      std::memcpy(values[std::countr_zero(left)], from, bytes);
  };
  switch (space) {
    case Space::param:
      for (LaneMask left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        std::memcpy(values[lane], parameter_bytes(global[lane][0].value, bytes), bytes);
      }
      return true;
    case Space::local:
    case Space::call_param:
      for (LaneMask left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const uint64_t base = space == Space::call_param ? code.program().local_bytes : 0;
        uint8_t* at = local_bytes(lane, base + global[lane][0].value, bytes);
        if (!at)
          return fail("GM1", fmt::format("{} outside of the thread's local memory", code.program().text(i))), false;
        access.store ? std::memcpy(at, values[lane], bytes) : std::memcpy(values[lane], at, bytes);
      }
      context.charge_private(context.issue.alu);
      return true;
    case Space::constant:
      if (!file.windows.constant.has(global[first][0].value))
        return access_global(i, access, lanes, global, bytes, values, arrives, unknown);
      for (LaneMask left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const uint64_t at = global[lane][0].value - kPtxConstantWindow;
        const std::vector<uint8_t>& all = code.constant_bytes();
        if (at + bytes > all.size() || access.store)
          return fail("GM1", fmt::format("{} outside of the module's constants", code.program().text(i))), false;
        std::memcpy(values[lane], all.data() + at, bytes);
      }
      context.charge_private(context.issue.alu);
      return true;
    case Space::shared: {
      faults_look_at(loc);
      const bool own = !cluster || shared[first][0].rank() == context.cluster_ctarank();
      const Strength strength{.strong = access.order != ptx::Order::weak,
                              .acquires = access.order == ptx::Order::acquire,
                              .releases = access.order == ptx::Order::release};
      if (!access.store && own && !strength.strong && uniform(shared, lanes) &&
          (bytes == 4 || (bytes == 16 && access.vector == 2))) {
        const SmemAddr address{shared[first][0].value};
        unknown = context.own.smem.forgotten(address.offset(), bytes);
        if (bytes == 4) {
          const uint32_t word = context.execute(LdSharedU32{address}, lanes, loc);
          everywhere(&word);
        } else {
          const ClcResponse words = context.execute(LdSharedB128{address}, lanes, loc);
          everywhere(&words);
        }
        return true;
      }
      if (access.store && (doing_ == TraceEvent::tmem_load || doing_ == TraceEvent::store_issue))
        does(TraceEvent::smem_write);
      if (access.store)
        context.execute(StSharedLanes{bytes, &shared, cluster, values, unknown, strength}, lanes, loc);
      else
        context.execute(LdSharedLanes{bytes, &shared, cluster, values, &arrives, &unknown, strength}, lanes, loc);
      return true;
    }
    case Space::global:
    case Space::generic:
      if (file.windows.constant.has(global[first][0].value))
        return access_space(i, access, Space::constant, cluster, lanes, shared, global, bytes, values, arrives,
                            unknown);
      return access_global(i, access, lanes, global, bytes, values, arrives, unknown);
    default: return not_implemented(fmt::format("{} in this state space", code.program().text(i))), false;
  }
}

bool PtxWarp::access_global(const ptx::Instr& i, const PtxAccess& access, LaneMask lanes,
                            const LaneArray<GlobalAddr, 1>& addresses, uint32_t bytes, uint8_t (*values)[32],
                            models::Cycles& arrives, bool& unknown) {
  const sm100::Loc loc = code.loc(current_);
  const int first = std::countr_zero(lanes);
  const bool one = uniform(addresses, lanes);
  const bool ordered = access.order == ptx::Order::acquire || access.order == ptx::Order::release;
  // .cta says nothing to other CTAs.
  const bool strong = access.order != ptx::Order::weak && access.scope != ptx::Scope::cta;
  const bool relaxed = strong && !ordered;
  const bool is_word = bytes == 4 && one;
  // A relaxed word of a run without data is one if it has bytes at all: those that protocols depend on.
  if (is_word && (ordered || (relaxed && context.cta.gpu().memory().data(addresses[first][0], 4)))) {
    if (!access.store) {
      const bool polls = !relaxed || code.wait_of(current_) != nullptr;
      const uint32_t word = context.execute(LdAcquireGpuGlobalU32{addresses[first][0], relaxed, polls}, lanes, loc);
      for (LaneMask left = lanes; left != 0; left &= left - 1)
        std::memcpy(values[std::countr_zero(left)], &word, 4);
    } else {
      uint32_t word;
      std::memcpy(&word, values[first], 4);
      context.execute(StReleaseGpuGlobalU32{addresses[first][0], word, relaxed}, lanes, loc);
    }
    return true;
  }
  if (ordered && access.store) {
    if (bytes != 8 || access.vector != 1) return not_implemented(std::string(code.program().text(i))), false;
    uint64_t given[ptx::kLanes] = {}, replaced[ptx::kLanes];
    for (LaneMask left = lanes; left != 0; left &= left - 1)
      std::memcpy(&given[std::countr_zero(left)], values[std::countr_zero(left)], 8);
    // As an exchange whose answer nobody wants.
    context.execute(
        AtomGlobal{{ReduceOp::exch, ReduceType::b64, MemorySem::release, MemoryScope::gpu, &addresses, given},
                   replaced},
        lanes, loc);
    return true;
  }
  if (access.store && doing_ && doing_ != TraceEvent::load_issue && doing_ != TraceEvent::mma_issue)
    does(TraceEvent::store_issue);
  if (access.store)
    context.execute(StGlobalLanes{bytes, &addresses, values, strong}, lanes, loc);
  else
    context.execute(
        LdGlobalLanes{bytes, &addresses, values, &arrives, &unknown, {.strong = strong, .acquires = ordered}},
        lanes, loc);
  return true;
}

}  // namespace sm100::sim
