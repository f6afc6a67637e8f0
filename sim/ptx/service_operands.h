// SPDX-License-Identifier: Apache-2.0
/// Operands of an instruction beyond registers' arithmetic, as the lanes that execute it see them.
#pragma once

#include <bit>
#include <span>
#include <string_view>

#include "ptx/program.h"

namespace sm100::sim {

/// A value in memory as its register holds it: signed ones are extended, others have zeros above.
inline uint64_t widened(const ptx::Access& access, uint64_t bits, uint32_t bytes) {
  if (!ptx::is_signed(access.type) || bytes == 8) return bits;
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  return (bits ^ sign) - sign;
}

struct ServiceOperands {
  ptx::RegisterFile& registers;
  const ptx::Service& service;
  ptx::LaneMask lanes;

  ptx::RegisterFile& file() const { return registers; }
  size_t size() const { return service.operands.size(); }
  const ptx::Operand& operand(size_t i) const { return service.operands[i]; }
  bool has(std::string_view modifier) const { return service.modifiers.has(modifier); }
  int first() const { return std::countr_zero(lanes); }
  uint64_t value(const ptx::Operand& o, int lane) const { return o.lane_value(registers, lane); }
  uint64_t value(size_t i) const { return value(operand(i), first()); }
  uint64_t address(const ptx::Operand& o, int lane) const { return o.lane_address(registers, lane); }
  uint64_t address(size_t i) const { return address(operand(i), first()); }
  /// Of a predicate, by lane.
  ptx::LaneMask predicate(const ptx::Operand& o) const {
    return registers.predicate(o.row) ^ (o.negated ? ptx::kAllLanes : 0u);
  }
  void set_predicate(const ptx::Operand& o, ptx::LaneMask value) const {
    if (o.kind != ptx::Operand::Kind::sink) registers.set_predicate(o.row, value, lanes);
  }
  void set(const ptx::Operand& o, int lane, uint64_t bits) const {
    if (o.kind != ptx::Operand::Kind::sink) o.set_lane(registers, lane, bits);
  }
  void set_all(const ptx::Operand& o, uint64_t bits) const {
    for (ptx::LaneMask left = lanes; left != 0; left &= left - 1) set(o, std::countr_zero(left), bits);
  }
};

/// The registers of a vector, or the one.
inline std::span<const ptx::Operand> registers_of(const ptx::Operand& o) {
  return o.kind == ptx::Operand::Kind::vector ? std::span<const ptx::Operand>(o.elements)
                                              : std::span<const ptx::Operand>(&o, 1);
}

}  // namespace sm100::sim
