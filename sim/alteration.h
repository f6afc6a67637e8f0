// SPDX-License-Identifier: Apache-2.0
/// What the faults of a scenario change in one execution of an instruction, all of them together.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/host/fault.h"
#include "kernels/isa/isa.h"
#include "models/time.h"

namespace sm100::sim {

using host::FaultAction;
using host::FaultOperand;

struct Alteration {
  enum class Lanes : uint8_t { as_written, all, one, other };

  int times = 1;             ///< executions; 0: dropped
  models::Cycles delay = 0;  ///< before it
  bool flip_parity = false, own_cta = false, cta_scope = false;
  Lanes lanes = Lanes::as_written;
  uint16_t cleared = 0;                                          ///< bits of the CTA mask
  std::array<int64_t, host::kFaultOperandNames.size()> added{};  ///< by operand

  void apply(const host::FaultSpec& fault) {
    switch (fault.action) {
      case FaultAction::drop: times = 0; break;
      case FaultAction::duplicate: times *= int(fault.value); break;
      case FaultAction::delay: delay += models::Cycles(fault.value); break;
      case FaultAction::early: break;  // alters where the instruction stands (FaultIsa::release_early)
      case FaultAction::flip_parity: flip_parity = !flip_parity; break;
      case FaultAction::add: added[size_t(fault.operand)] += fault.value; break;
      case FaultAction::clear_mask: cleared |= uint16_t(fault.value); break;
      case FaultAction::own_cta: own_cta = true; break;
      case FaultAction::cta_scope: cta_scope = true; break;
      case FaultAction::all_lanes: lanes = Lanes::all; break;
      case FaultAction::one_lane: lanes = Lanes::one; break;
      case FaultAction::other_lane: lanes = Lanes::other; break;
    }
  }

  // ---- operands as altered

  int64_t of(FaultOperand operand) const { return added[size_t(operand)]; }
  template <class Number>
  Number changed(FaultOperand operand, Number value) const {
    return Number(int64_t(value) + of(operand));
  }
  /// SmemAddr, ClusterSmemAddr, GlobalAddr.
  template <class Address>
  Address moved(FaultOperand operand, Address address) const {
    address.value += decltype(address.value)(of(operand));
    return address;
  }
  TmemAddr moved(TmemAddr address) const { return address.plus_columns(uint32_t(of(FaultOperand::column))); }
  SmemDescriptor moved(FaultOperand operand, SmemDescriptor descriptor) const {
    return {descriptor.bits + uint64_t(of(operand) / 16)};
  }
  template <int N>
  TensorCoords<N> moved(TensorCoords<N> coords) const {
    coords.c[0] += int32_t(of(FaultOperand::x));
    if constexpr (N > 1) coords.c[1] += int32_t(of(FaultOperand::y));
    return coords;
  }
  Scope scope(Scope as_written) const { return cta_scope ? Scope::cta : as_written; }
  /// @param own  rank of the CTA that executes the instruction
  CtaMask mask(CtaMask as_written, uint32_t own) const {
    const auto bits = own_cta ? uint16_t(1u << own) : as_written.bits;
    return {uint16_t(bits & ~cleared)};
  }
};

}  // namespace sm100::sim
