// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/lane_exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/isa/lane_array.h"

namespace sm100::sim::lanes {

using ptx::LaneMask;
using ptx::Operand;

void set_elected(const ServiceOperands& c, LaneMask elected) {
  const Operand& to = c.operand(0);
  const Operand& lane = to.kind == Operand::Kind::pair ? to.elements[0] : to;
  c.set_all(lane, uint32_t(std::countr_zero(elected)));
  if (to.kind == Operand::Kind::pair) c.set_predicate(to.elements[1], elected);
}

namespace {

/// Calls f(c') for each set of lanes that name the same mask, which are those that exchange (PTX 9.7.13: a thread
/// waits for the non-exited ones of its membermask that execute the same instruction with the same mask).
template <class F>
void for_each_mask(const ServiceOperands& c, size_t mask, F&& f) {
  const Operand& of = c.operand(mask);
  if (of.is_immediate()) return f(c);
  for (LaneMask left = c.lanes; left != 0;) {
    const uint64_t value = c.value(of, std::countr_zero(left));
    LaneMask same = 0;
    for (LaneMask l = left; l != 0; l &= l - 1)
      if (c.value(of, std::countr_zero(l)) == value) same |= l & -l;
    f(ServiceOperands{c.registers, c.service, same});
    left &= ~same;
  }
}

}  // namespace

void elect(const ServiceOperands& c) {
  for_each_mask(c, 1, [&](const ServiceOperands& group) {
    const LaneMask members = LaneMask(group.value(1)) & group.lanes;
    set_elected(group, members & -members);
  });
}

namespace {

/// Of all 32 lanes, whatever the width of the row.
void read_lanes(const ServiceOperands& c, const Operand& o, uint32_t* to) {
  if (o.width == 4)
    std::memcpy(to, c.file().read<uint32_t>(o.row), ptx::kLanes * sizeof *to);
  else
    for (int lane = 0; lane < ptx::kLanes; ++lane) to[lane] = uint32_t(c.file().read<uint64_t>(o.row)[lane]);
}
/// To each lane the value of the lane that `from` says.
void write_lanes(const ServiceOperands& c, const Operand& o, const uint32_t* values,
                 const std::array<uint8_t, ptx::kLanes>& from) {
  if (o.width == 4 && o.kind != Operand::Kind::sink && c.lanes == ptx::kAllLanes) {
    uint32_t* const to = c.file().write<uint32_t>(o.row);
    for (size_t lane = 0; lane < ptx::kLanes; ++lane) to[lane] = values[from[lane]];
  } else {
    for (LaneMask left = c.lanes; left != 0; left &= left - 1)
      c.set(o, std::countr_zero(left), values[from[size_t(std::countr_zero(left))]]);
  }
}

}  // namespace

namespace {

/// Which lane each one reads, and which of them read another's value as the instruction says.
struct Sources {
  std::array<uint8_t, ptx::kLanes> lane{};
  LaneMask valid = 0;

  /// PTX 9.7.9.6: segments of lanes by the mask in bits 12:8 of c, clamp in bits 4:0.
  template <Shuffle kMode>
  void set(int of, uint32_t b, uint32_t limits) {
    const int bval = int(b & 31), cval = int(limits & 31), mask = int(limits >> 8 & 31);
    const int max_lane = (of & mask) | (cval & ~mask), min_lane = of & mask;
    const int from = kMode == Shuffle::up     ? of - bval
                     : kMode == Shuffle::down ? of + bval
                     : kMode == Shuffle::bfly ? of ^ bval
                                              : min_lane | (bval & ~mask);
    const bool inside = kMode == Shuffle::up ? from >= max_lane : from <= max_lane;
    valid |= LaneMask(inside) << of;
    lane[size_t(of)] = uint8_t((inside ? from : of) & 31);
  }
};

/// Of a whole warp without segments, by b.
template <Shuffle kMode>
struct WholeWarp {
  static constexpr uint32_t kLimits = kMode == Shuffle::up ? 0 : 31;
  std::array<Sources, ptx::kLanes> by_b;

  WholeWarp() {
    for (uint32_t b = 0; b < by_b.size(); ++b)
      for (int lane = 0; lane < ptx::kLanes; ++lane) by_b[b].template set<kMode>(lane, b, kLimits);
  }
};

}  // namespace

template <Shuffle kMode>
void shfl(const ServiceOperands& c) {
  static const WholeWarp<kMode> whole;
  const Operand &to = c.operand(0), &b = c.operand(2), &limits = c.operand(3);
  const Operand& result = to.kind == Operand::Kind::pair ? to.elements[0] : to;
  uint32_t values[ptx::kLanes];
  read_lanes(c, c.operand(1), values);
  Sources each;
  const Sources* sources = &each;
  if (b.is_immediate() && limits.is_immediate() && (limits.value & 0x1f1f) == WholeWarp<kMode>::kLimits) {
    sources = &whole.by_b[size_t(b.value & 31)];
  } else {
    uint32_t of_b[ptx::kLanes], of_limits[ptx::kLanes];
    read_lanes(c, b, of_b);
    read_lanes(c, limits, of_limits);
    for (int lane = 0; lane < ptx::kLanes; ++lane) each.template set<kMode>(lane, of_b[lane], of_limits[lane]);
  }
  write_lanes(c, result, values, sources->lane);
  if (to.kind == Operand::Kind::pair) c.set_predicate(to.elements[1], sources->valid);
}
template void shfl<Shuffle::up>(const ServiceOperands&);
template void shfl<Shuffle::down>(const ServiceOperands&);
template void shfl<Shuffle::bfly>(const ServiceOperands&);
template void shfl<Shuffle::idx>(const ServiceOperands&);

void shfl(const ServiceOperands& c) {
  if (c.has(".up")) return shfl<Shuffle::up>(c);
  if (c.has(".down")) return shfl<Shuffle::down>(c);
  return c.has(".bfly") ? shfl<Shuffle::bfly>(c) : shfl<Shuffle::idx>(c);
}

namespace {

template <Vote kMode>
void vote_of(const ServiceOperands& c) {
  const LaneMask members = c.lanes, yes = c.predicate(c.operand(1)) & members;
  if (kMode == Vote::ballot) return c.set_all(c.operand(0), yes);
  const bool all = yes == members, any = yes != 0;
  const bool result = kMode == Vote::all ? all : kMode == Vote::any ? any : all || !any;
  c.set_predicate(c.operand(0), result ? ptx::kAllLanes : 0);
}

}  // namespace

template <Vote kMode>
void vote(const ServiceOperands& c) {
  for_each_mask(c, 2, vote_of<kMode>);
}
template void vote<Vote::ballot>(const ServiceOperands&);
template void vote<Vote::all>(const ServiceOperands&);
template void vote<Vote::any>(const ServiceOperands&);
template void vote<Vote::uni>(const ServiceOperands&);

void vote(const ServiceOperands& c) {
  if (c.has(".ballot")) return vote<Vote::ballot>(c);
  if (c.has(".all")) return vote<Vote::all>(c);
  return c.has(".any") ? vote<Vote::any>(c) : vote<Vote::uni>(c);
}

namespace {

void match_of(const ServiceOperands& c) {
  const Operand& to = c.operand(0);
  const Operand& result = to.kind == Operand::Kind::pair ? to.elements[0] : to;
  const auto alike = [&](int lane) {
    LaneMask mask = 0;
    for (LaneMask left = c.lanes; left != 0; left &= left - 1)
      if (c.value(c.operand(1), std::countr_zero(left)) == c.value(c.operand(1), lane)) mask |= left & -left;
    return mask;
  };
  if (c.has(".any")) {
    LaneMask masks[ptx::kLanes] = {};
    for (LaneMask left = c.lanes; left != 0; left &= left - 1)
      masks[std::countr_zero(left)] = alike(std::countr_zero(left));
    for (LaneMask left = c.lanes; left != 0; left &= left - 1)
      c.set(result, std::countr_zero(left), masks[std::countr_zero(left)]);
    return;
  }
  const bool all = alike(c.first()) == c.lanes;
  c.set_all(result, all ? c.lanes : 0);
  if (to.kind == Operand::Kind::pair) c.set_predicate(to.elements[1], all ? ptx::kAllLanes : 0);
}

void redux_of(const ServiceOperands& c) {
  if (c.has(".f32")) {
    float best = 0;
    bool first = true, nan = false;
    for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
      float v = as_float(uint32_t(c.value(c.operand(1), std::countr_zero(left))));
      if (c.has(".abs")) v = std::abs(v);
      if (v != v) {
        nan |= c.has(".NaN");
        continue;
      }
      best = first ? v : c.has(".min") ? std::min(best, v) : std::max(best, v);
      first = false;
    }
    c.set_all(c.operand(0), nan || first ? 0x7fffffffu : as_bits(best));
    return;
  }
  uint32_t result = uint32_t(c.value(c.operand(1), c.first()));
  const auto with_each = [&](auto&& op) {
    for (LaneMask left = c.lanes & (c.lanes - 1); left != 0; left &= left - 1)
      result = op(result, uint32_t(c.value(c.operand(1), std::countr_zero(left))));
  };
  const bool is_signed = c.has(".s32");
  if (c.has(".add"))
    with_each([](uint32_t x, uint32_t y) { return x + y; });
  else if (c.has(".min"))
    with_each([&](uint32_t x, uint32_t y) { return (is_signed ? int32_t(x) < int32_t(y) : x < y) ? x : y; });
  else if (c.has(".max"))
    with_each([&](uint32_t x, uint32_t y) { return (is_signed ? int32_t(x) > int32_t(y) : x > y) ? x : y; });
  else if (c.has(".and"))
    with_each([](uint32_t x, uint32_t y) { return x & y; });
  else if (c.has(".or"))
    with_each([](uint32_t x, uint32_t y) { return x | y; });
  else
    with_each([](uint32_t x, uint32_t y) { return x ^ y; });
  c.set_all(c.operand(0), result);
}

}  // namespace

void match(const ServiceOperands& c) { for_each_mask(c, 2, match_of); }
void redux(const ServiceOperands& c) { for_each_mask(c, 2, redux_of); }

void activemask(const ServiceOperands& c) { c.set_all(c.operand(0), c.lanes); }

}  // namespace sm100::sim::lanes
