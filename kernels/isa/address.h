// SPDX-License-Identifier: Apache-2.0
/// Address types of the asynchronous units.  Mixing them up compiles on hardware and corrupts memory, so each
/// is a type of its own.
///
/// Shared memory, PTX "State Spaces" and reference H200 behaviour: a CTA sees its window at rank << 24, user
/// data starts at offset 0x400 (the first KiB is the system's), `mapa` to rank r gives r << 24 | offset.
/// Tensor memory, PTX 9.7.16.1: lane in bits 31:16, column in bits 15:0; only 0x007F01FF are active.
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

inline constexpr uint32_t kSmemUserBase = 0x400;      ///< first byte a kernel may use
inline constexpr uint32_t kSmemWindowBytes = 233472;  ///< 228 KiB per SM, the system's first KiB included
inline constexpr uint32_t kClusterRankShift = 24;     ///< shared::cluster address = rank << 24 | offset
inline constexpr uint32_t kSmemOffsetMask = (1u << kClusterRankShift) - 1;

/// Byte address in the executing CTA's shared window (`.shared::cta`).
struct SmemAddr {
  uint32_t value = 0;
  SM100_HD constexpr SmemAddr operator+(uint32_t bytes) const { return {value + bytes}; }
  SM100_HD constexpr uint32_t offset() const { return value & kSmemOffsetMask; }
  constexpr bool operator==(const SmemAddr&) const = default;
};

/// Byte address in the shared window of any CTA of the cluster (`.shared::cluster`).
struct ClusterSmemAddr {
  uint32_t value = 0;
  SM100_HD constexpr uint32_t rank() const { return value >> kClusterRankShift; }
  SM100_HD constexpr uint32_t offset() const { return value & kSmemOffsetMask; }
  constexpr bool operator==(const ClusterSmemAddr&) const = default;
};

/// An own-CTA address is a valid `.shared::cluster` address (PTX "State Spaces").
SM100_HD constexpr ClusterSmemAddr as_cluster(SmemAddr a) { return {a.value}; }

inline constexpr uint32_t kTmemLanes = 128;
inline constexpr uint32_t kTmemColumns = 512;

/// Tensor-memory address: lane << 16 | column.  Not a byte address: +1 is the next 32-bit column of the lane.
struct TmemAddr {
  uint32_t value = 0;
  SM100_HD static constexpr TmemAddr at(uint32_t lane, uint32_t column) { return {lane << 16 | column}; }
  SM100_HD constexpr uint32_t lane() const { return (value >> 16) & (kTmemLanes - 1); }
  SM100_HD constexpr uint32_t column() const { return value & 0xffff; }  // past kTmemColumns: TC1
  SM100_HD constexpr TmemAddr plus_columns(uint32_t n) const { return {value + n}; }
  SM100_HD constexpr TmemAddr plus_lanes(uint32_t n) const { return {value + (n << 16)}; }
  constexpr bool operator==(const TmemAddr&) const = default;
};

/// Byte address in global memory.
struct GlobalAddr {
  uint64_t value = 0;
  SM100_HD constexpr GlobalAddr operator+(uint64_t bytes) const { return {value + bytes}; }
  constexpr bool operator==(const GlobalAddr&) const = default;
};

/// Grid coordinates (%ctaid, %nctaid, a CLC response's first CTA id).
struct Dim3 {
  uint32_t x = 0, y = 0, z = 0;
  constexpr bool operator==(const Dim3&) const = default;
};

}  // namespace sm100
