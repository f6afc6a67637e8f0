// SPDX-License-Identifier: Apache-2.0
/// Loads and stores of any width by any lanes, each at an address of its own: what front ends need whose programs
/// are not written in the widths of the seam.  Bytes always move: addresses, bounds and answers pass through them.
#pragma once

#include <functional>

#include "kernels/isa/instructions/instruction.h"
#include "models/time.h"

namespace sm100::instructions {

/// What the access says of its order; weak ones say nothing.
struct Strength {
  bool strong = false, acquires = false, releases = false;
};

inline constexpr uint32_t kLaneBytes = 32;  ///< of a lane's values, in a row
using LaneBytes = uint8_t (*)[kLaneBytes];  ///< [lane][byte]

struct LdSharedLanes {
  static constexpr Description kIs{.function = "ld_shared", .opcode = "ld.shared", .other_ctas = true};
  uint32_t bytes;
  const LaneArray<ClusterSmemAddr, 1>* addresses;  ///< of the own CTA, or (cluster) of any
  bool cluster;
  LaneBytes values;
  models::Cycles* arrives;  ///< when the registers hold the values
  bool* unknown;            ///< set where a run without data does not know the bytes
  Strength strength{};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct StSharedLanes {
  static constexpr Description kIs{.function = "st_shared", .opcode = "st.shared", .other_ctas = true};
  uint32_t bytes;
  const LaneArray<ClusterSmemAddr, 1>* addresses;
  bool cluster;
  LaneBytes values;
  bool unknown;  ///< of a run without data: the values follow from a tensor's contents
  Strength strength{};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// st.bulk: zeros over a region of the own CTA's shared memory (PTX 9.7.9.13).  Time is that of a store by lanes
/// for each 128 bytes, an assumption.
struct StBulkLanes {
  static constexpr Description kIs{.function = "st_bulk", .opcode = "st.bulk", .each_lane = true};
  const LaneArray<SmemAddr, 1>* addresses;
  const LaneArray<uint32_t, 1>* sizes;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// An atomic of the lanes, one after the other, on bytes of shared memory, or of global memory where the type is
/// none of AtomGlobal's.  Atomics do not race with each other; in shared memory they hand on what their order says.
struct AtomLanes {
  static constexpr Description kIs{
      .function = "atom_shared", .opcode = "atom", .each_lane = true, .other_ctas = true};
  uint32_t bytes;
  const LaneArray<ClusterSmemAddr, 1>* shared;  ///< nullptr: global
  bool cluster;
  const LaneArray<GlobalAddr, 1>* global;
  const std::function<void(int lane, uint8_t* at)>* modify;
  models::Cycles* arrives;
  Strength strength{};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// ldmatrix.m8n8: the mirror image of stmatrix (PTX 9.7.14.5.15).
struct Ldmatrix {
  static constexpr Description kIs{.function = "ldmatrix", .opcode = "ldmatrix", .aligned = true};
  const LaneArray<SmemAddr, 1>* rows;
  uint32_t* registers;  ///< `matrices` of each lane
  int matrices;         ///< 1, 2 or 4
  bool transposed;
  models::Cycles* arrives;
  bool* unknown;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// cp.async of any size, with bytes that are not read but become zeros (PTX 9.7.9.25.3.1).  Approximated as
/// CpAsyncCgSharedGlobal is: bytes move at once and count as landed an L2 hit later.
struct CpAsyncLanes {
  static constexpr Description kIs{.function = "cp_async", .opcode = "cp.async"};
  uint32_t bytes;  ///< 4, 8 or 16
  const LaneArray<SmemAddr, 1>* to;
  const LaneArray<GlobalAddr, 1>* from;
  const LaneArray<uint32_t, 1>* read_bytes;  ///< of `bytes`; the others become zeros
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct LdGlobalLanes {
  static constexpr Description kIs{.function = "ld_global", .opcode = "ld.global"};
  uint32_t bytes;
  const LaneArray<GlobalAddr, 1>* addresses;
  LaneBytes values;
  models::Cycles* arrives;
  bool* unknown;  ///< set where a run without data has no bytes
  Strength strength{};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct StGlobalLanes {
  static constexpr Description kIs{.function = "st_global", .opcode = "st.global"};
  uint32_t bytes;
  const LaneArray<GlobalAddr, 1>* addresses;
  LaneBytes values;
  bool strong = false;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

}  // namespace sm100::instructions
