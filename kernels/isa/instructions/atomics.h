// SPDX-License-Identifier: Apache-2.0
/// Atomics of warps in global memory (PTX 9.7.13.3, .4).
#pragma once

#include "kernels/isa/instructions/instruction.h"
#include "kernels/isa/memory_order.h"
#include "kernels/isa/reduction.h"

namespace sm100::instructions {

/// What the three have in common: each active lane, one after the other, on its own address.  Registers hold
/// uint64_t where the type has 8 bytes, else uint32_t.
struct AtomicOperands {
  ReduceOp op;
  ReduceType type;
  MemorySem sem;
  MemoryScope scope;
  const LaneArray<GlobalAddr, 1>* addresses;
  const void* registers;
};

/// Returns what memory held.
struct AtomGlobal {
  static constexpr Description kIs{.function = "atom_global", .opcode = "atom", .each_lane = true};
  static constexpr SupportLine kSupport[] = {
      {"atom.global, red.global", Support::approximated,
       "add, min, max, inc, dec, and, or, xor, exch; at L2, lane by lane; scopes are not looked at"}};
  AtomicOperands atomic;
  void* results;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// Posted: returns nothing.
struct RedGlobal {
  static constexpr Description kIs{.function = "red_global", .opcode = "red", .each_lane = true};
  static constexpr auto& kSupport = AtomGlobal::kSupport;
  AtomicOperands atomic;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// Stores where memory holds what `compare` does; returns what it held.
struct AtomCasGlobal {
  static constexpr Description kIs{.function = "atom_cas_global", .opcode = "atom", .each_lane = true};
  static constexpr SupportLine kSupport[] = {{"atom.global.cas", Support::approximated, "b32, b64; as atom"}};
  AtomicOperands atomic;
  const void* compare;
  void* results;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

using AtomicsGroup = List<AtomGlobal, RedGlobal, AtomCasGlobal>;

inline constexpr SupportLine kAtomicsRejected[] = {
    {"atom, red: vectors; .cas.b16, .cas.b128, .exch.b128", Support::rejected, "not implemented"},
};

}  // namespace sm100::instructions
