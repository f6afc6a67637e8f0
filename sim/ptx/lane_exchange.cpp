// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/lane_exchange.h"

#include <algorithm>
#include <cmath>

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

void elect(const ServiceOperands& c) {
  const LaneMask members = LaneMask(c.value(1)) & c.lanes;
  set_elected(c, members & -members);
}

/// PTX 9.7.9.6: segments of lanes by the mask in bits 12:8 of c, clamp in bits 4:0.
void shfl(const ServiceOperands& c) {
  const Operand& to = c.operand(0);
  const Operand& result = to.kind == Operand::Kind::pair ? to.elements[0] : to;
  const Operand &a = c.operand(1), &b = c.operand(2), &limits = c.operand(3);
  uint32_t values[ptx::kLanes];
  for (int lane = 0; lane < ptx::kLanes; ++lane) values[lane] = uint32_t(c.value(a, lane));
  LaneMask valid = 0;
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const int bval = int(c.value(b, lane) & 31), cval = int(c.value(limits, lane) & 31),
              mask = int(c.value(limits, lane) >> 8 & 31);
    const int max_lane = (lane & mask) | (cval & ~mask), min_lane = lane & mask;
    int from;
    bool inside;
    if (c.has(".up"))
      from = lane - bval, inside = from >= max_lane;
    else if (c.has(".down"))
      from = lane + bval, inside = from <= max_lane;
    else if (c.has(".bfly"))
      from = lane ^ bval, inside = from <= max_lane;
    else
      from = min_lane | (bval & ~mask), inside = from <= max_lane;
    if (!inside) from = lane;
    if (inside) valid |= 1u << lane;
    c.set(result, lane, values[from & 31]);
  }
  if (to.kind == Operand::Kind::pair) c.set_predicate(to.elements[1], valid);
}

void vote(const ServiceOperands& c) {
  const LaneMask members = c.lanes, yes = c.predicate(c.operand(1)) & members;
  if (c.has(".ballot")) return c.set_all(c.operand(0), yes);
  const bool all = yes == members, any = yes != 0;
  const bool result = c.has(".all") ? all : c.has(".any") ? any : all || !any;
  c.set_predicate(c.operand(0), result ? ptx::kAllLanes : 0);
}

void match(const ServiceOperands& c) {
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

void redux(const ServiceOperands& c) {
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
  for (LaneMask left = c.lanes & (c.lanes - 1); left != 0; left &= left - 1) {
    const auto v = uint32_t(c.value(c.operand(1), std::countr_zero(left)));
    if (c.has(".add"))
      result += v;
    else if (c.has(".min"))
      result = c.has(".s32") ? uint32_t(std::min(int32_t(result), int32_t(v))) : std::min(result, v);
    else if (c.has(".max"))
      result = c.has(".s32") ? uint32_t(std::max(int32_t(result), int32_t(v))) : std::max(result, v);
    else if (c.has(".and"))
      result &= v;
    else if (c.has(".or"))
      result |= v;
    else
      result ^= v;
  }
  c.set_all(c.operand(0), result);
}

void activemask(const ServiceOperands& c) { c.set_all(c.operand(0), c.lanes); }

}  // namespace sm100::sim::lanes
