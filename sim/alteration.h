// SPDX-License-Identifier: Apache-2.0
/// What the faults of a scenario change in one execution of an instruction, all of them together; and how operands
/// are changed, whatever instruction they belong to: by their names and types.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "kernels/host/fault.h"
#include "kernels/isa/instructions/tcgen05.h"
#include "models/time.h"

namespace sm100::sim {

using host::FaultAction;

struct Alteration {
  enum class Lanes : uint8_t { as_written, all, one, other };

  int times = 1;             ///< executions; 0: dropped
  models::Cycles delay = 0;  ///< before it
  bool flip_parity = false, own_cta = false, cta_scope = false;
  Lanes lanes = Lanes::as_written;
  uint16_t cleared = 0;  ///< bits of the CTA mask
  struct Added {
    std::string_view operand;
    int64_t value;
  };
  std::array<Added, 8> added{};  ///< one for each operand that faults add to
  size_t operands_added = 0;

  void apply(const host::FaultSpec& fault) {
    switch (fault.action) {
      case FaultAction::drop: times = 0; break;
      case FaultAction::duplicate: times *= int(fault.value); break;
      case FaultAction::delay: delay += models::Cycles(fault.value); break;
      case FaultAction::early: break;  // alters where the instruction stands (WarpContext::release_early)
      case FaultAction::flip_parity: flip_parity = !flip_parity; break;
      case FaultAction::add: add(fault.operand, fault.value); break;
      case FaultAction::clear_mask: cleared |= uint16_t(fault.value); break;
      case FaultAction::own_cta: own_cta = true; break;
      case FaultAction::cta_scope: cta_scope = true; break;
      case FaultAction::all_lanes: lanes = Lanes::all; break;
      case FaultAction::one_lane: lanes = Lanes::one; break;
      case FaultAction::other_lane: lanes = Lanes::other; break;
    }
  }
  void add(std::string_view operand, int64_t value) {
    for (size_t i = 0; i < operands_added; ++i)
      if (added[i].operand == operand) {
        added[i].value += value;
        return;
      }
    if (operands_added < added.size()) added[operands_added++] = {operand, value};  // an instruction has fewer
  }
  /// What is added to the operand.
  int64_t of(std::string_view operand) const {
    for (size_t i = 0; i < operands_added; ++i)
      if (added[i].operand == operand) return added[i].value;
    return 0;
  }
  /// The lanes that execute it instead of those of `mask`.
  uint32_t lanes_of(uint32_t mask) const {
    const int first = std::countr_zero(mask);
    switch (lanes) {
      case Lanes::as_written: break;
      case Lanes::all: return 0xffffffffu;
      case Lanes::one: return 1u << first;
      case Lanes::other: return 1u << (first + 1) % kWarpLanes;
    }
    return mask;
  }
};

/// Visits operands and changes them.
class AlterOperand {
 public:
  /// @param rank   of the CTA that executes the instruction
  /// @param lanes  that execute it as written
  AlterOperand(const Alteration& alteration, uint32_t rank, uint32_t lanes)
      : alteration_(alteration), rank_(rank), lanes_(lanes) {}

  void operator()(std::string_view name, uint32_t& value) const {
    value = uint32_t(int64_t(value) + alteration_.of(name));
    if (name == "parity") value ^= uint32_t(alteration_.flip_parity);
  }
  void operator()(std::string_view name, uint64_t& value) const { value += uint64_t(alteration_.of(name)); }
  void operator()(std::string_view name, int& value) const { value = int(int64_t(value) + alteration_.of(name)); }
  void operator()(std::string_view name, bool& value) const {
    value = int(value) + alteration_.of(name) > 0;
    if (name == "multicast" && alteration_.own_cta) value = false;
  }
  void operator()(std::string_view name, SmemAddr& address) const { signal(name, address); }
  void operator()(std::string_view name, ClusterSmemAddr& address) const { signal(name, address); }
  void operator()(std::string_view name, GlobalAddr& address) const {
    address.value += uint64_t(alteration_.of(name));
  }
  void operator()(std::string_view name, TmemAddr& address) const {
    address = address.plus_columns(uint32_t(alteration_.of(name)));
  }
  void operator()(std::string_view name, SmemDescriptor& descriptor) const {
    descriptor.bits += uint64_t(alteration_.of(name) / 16);
  }
  void operator()(std::string_view name, InstrDescriptor& descriptor) const {
    descriptor.bits += uint32_t(alteration_.of(name));
  }
  void operator()(std::string_view name, instructions::OperandA& a) const {
    constexpr int64_t kColumnBytes = 4;
    (*this)(name, a.tile);
    if (a.in_tmem) a.tmem = a.tmem.plus_columns(uint32_t(alteration_.of(name) / kColumnBytes));
  }
  void operator()(std::string_view, Scope& scope) const {
    if (alteration_.cta_scope) scope = Scope::cta;
  }
  void operator()(std::string_view name, CtaMask& mask) const {
    mask.bits = uint16_t(mask.bits + alteration_.of(name));
    if (alteration_.own_cta) mask.bits = uint16_t(1u << rank_);
    mask.bits &= uint16_t(~alteration_.cleared);
  }
  /// Lanes that had no operand, because they were not active, take that of the first that was.
  template <class T>
  void operator()(std::string_view name, LaneArray<T, 1>& values) const {
    const T first = values[std::countr_zero(lanes_)][0];
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      T& value = values[lane][0];
      if (std::is_same_v<T, ClusterSmemAddr> && !(lanes_ >> lane & 1)) value = first;
      (*this)(name, value);
    }
  }

 private:
  template <class Address>
  void signal(std::string_view name, Address& address) const {
    address.value += uint32_t(alteration_.of(name));
    if (name == "barrier" && alteration_.own_cta) address.value = rank_ << kClusterRankShift | address.offset();
  }
  const Alteration& alteration_;
  uint32_t rank_, lanes_;
};

template <class I>
void alter_operands(I& instruction, const Alteration& alteration, uint32_t rank, uint32_t lanes) {
  I::operands(instruction, AlterOperand(alteration, rank, lanes));
}
/// What it returns: the "value" of a load.
template <class Result>
void alter_result(Result& result, const Alteration& alteration) {
  if constexpr (std::is_same_v<Result, uint32_t>) result += uint32_t(alteration.of("value"));
}

/// By what [[fault]] selects executions, of an instruction's operands.
struct Selection {
  uint32_t barrier = 0;      ///< offset of its mbarrier
  bool has_barrier = false;  ///< false: it counts as one of the barrier that its warp waited for last
  int id = -1;               ///< of its named barrier
  Loc loc{};                 ///< where it stands
};

/// @param lane  of the mbarrier, where each lane has its own
template <class I>
Selection selection_of(const I& instruction, int lane) {
  Selection selection;
  I::operands(instruction, [&]<class T>(std::string_view name, const T& operand) {
    const auto barrier = [&](uint32_t offset) { selection.barrier = offset, selection.has_barrier = true; };
    if constexpr (std::is_same_v<T, SmemAddr> || std::is_same_v<T, ClusterSmemAddr>) {
      if (name == I::kIs.selects_by) barrier(operand.offset());
    } else if constexpr (std::is_same_v<T, LaneArray<ClusterSmemAddr, 1>>) {
      if (name == I::kIs.selects_by) barrier(operand[lane][0].offset());
    } else if constexpr (std::is_same_v<T, int>) {
      if (name == "id") selection.id = operand;
    }
  });
  return selection;
}

}  // namespace sm100::sim
