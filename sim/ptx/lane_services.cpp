// SPDX-License-Identifier: Apache-2.0
// What lanes of a warp ask each other: elect, shfl, vote, match, redux (PTX 9.7.9.6, 9.7.13, 9.7.14).
#include <algorithm>
#include <bit>

#include "sim/ptx/services.h"

namespace sm100::sim {

using ptx::LaneMask;
using ptx::Operand;
using Together = PtxServiceEntry::Together;

namespace {

constexpr PtxOutcome kDone = PtxOutcome::done;

void charge(ServiceCall& c, double cycles) {
  c.context().at(c.loc, c.lanes);
  c.context().charge_private(cycles);
}

/// The lowest of the mask, as hardware elects; PTX does not say which.
PtxOutcome elect(ServiceCall& c) {
  const Operand& to = c.operand(0);
  const LaneMask members = LaneMask(c.value(1));
  LaneMask elected;
  if (c.lanes == ptx::kAllLanes && members == ptx::kAllLanes) {
    elected = c.execute(instructions::ElectSync{});
  } else {
    charge(c, c.context().issue.elect);
    elected = members & c.lanes & -(members & c.lanes);
  }
  const Operand& lane = to.kind == Operand::Kind::pair ? to.elements[0] : to;
  if (lane.kind != Operand::Kind::sink) c.set_all(lane, uint32_t(std::countr_zero(elected)));
  if (to.kind == Operand::Kind::pair) c.set_predicate(to.elements[1], elected);
  return kDone;
}

/// PTX 9.7.9.6: segments of lanes by the mask in bits 12:8 of c, clamp in bits 4:0.
PtxOutcome shfl(ServiceCall& c) {
  charge(c, c.context().issue.alu);
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
  return kDone;
}

PtxOutcome vote(ServiceCall& c) {
  charge(c, c.context().issue.alu);
  const LaneMask members = c.lanes, yes = c.predicate(c.operand(1)) & members;
  if (c.has(".ballot")) return c.set_all(c.operand(0), yes), kDone;
  const bool all = yes == members, any = yes != 0;
  const bool result = c.has(".all") ? all : c.has(".any") ? any : all || !any;
  c.set_predicate(c.operand(0), result ? ptx::kAllLanes : 0);
  return kDone;
}

PtxOutcome match(ServiceCall& c) {
  charge(c, c.context().issue.alu);
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
    return kDone;
  }
  const bool all = alike(c.first()) == c.lanes;
  c.set_all(result, all ? c.lanes : 0);
  if (to.kind == Operand::Kind::pair) c.set_predicate(to.elements[1], all ? ptx::kAllLanes : 0);
  return kDone;
}

PtxOutcome redux(ServiceCall& c) {
  charge(c, c.context().issue.alu);
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
    return kDone;
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
  return kDone;
}

PtxOutcome activemask(ServiceCall& c) {
  charge(c, c.context().issue.alu);
  c.set_all(c.operand(0), c.lanes);
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> lane_services() {
  return {{"elect.sync", elect, Together::mask},
          {"shfl.sync", shfl, Together::mask, false},
          {"vote.sync", vote, Together::mask},
          {"match.any.sync", match, Together::mask},
          {"match.all.sync", match, Together::mask},
          {"redux.sync", redux, Together::mask, false},
          {"activemask", activemask}};
}

}  // namespace sm100::sim
