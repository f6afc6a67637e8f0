// SPDX-License-Identifier: Apache-2.0
/// What a kernel that `sm100sim instrument` has given a recorder leaves in global memory.
///
/// The module has a variable `sm100_trace` (kPointTraceSymbol, .visible .global), a PointTrace.  The host fills it
/// before the launch and zeroes headers and records; while `records` is 0 nothing is
/// recorded.  Every warp of the grid owns a header and a region of records: those of lane 0 first, then those of
/// each other lane.  Of the lanes that execute a point together the lowest one writes it, into its own part.
///
/// A record that is there has a `what` that is not 0; the first that has 0 ends the lane's
/// story.  A lane never wraps: what is there is the beginning.  Threads that exit add what they have lost to
/// PointTraceHeader::lost; of a kernel that hangs, a lane whose last record is there may have lost some.
#pragma once

#include <cstdint>

#include "kernels/isa/trace.h"

namespace sm100 {

inline constexpr char kPointTraceSymbol[] = "sm100_trace";
inline constexpr uint32_t kPointTraceVersion = 1;
inline constexpr uint32_t kPointTraceMagic = 0x53313050;  ///< "S10P"

enum class PointKind : uint8_t {
  begin = 1,  ///< the warp does something else from here on: what, says the TraceEvent
  over,       ///< it has waited
  arrive,     ///< mbarrier.arrive
  expect_tx,  ///< mbarrier.expect_tx, or arrive.expect_tx
  commit,     ///< of a group of copies or MMAs
};

/// 8 bytes, so that a store needs two registers: producers often have none to spare (setmaxnreg).
struct alignas(8) PointRecord {
  uint32_t clock;  ///< low half of %clock64; successive records of a lane are less than 2^32 cycles apart
  /// Number of the point in the text + 1 in bits 16-31; a barrier's offset in shared memory / 8 in bits 1-15 (0:
  /// none is named), the parity that is waited for in bit 0.  kClockSample: the next record's `clock` is the low
  /// half of %globaltimer at that time, its `what` is 1.
  uint32_t what;
};
static_assert(sizeof(PointRecord) == 8);
inline constexpr uint32_t kClockSample = 0xffff0000;
inline constexpr uint32_t kMostPoints = 0xfffe;  ///< of a text

struct alignas(16) PointTraceHeader {
  uint32_t magic;  ///< kPointTraceMagic once the warp has started
  uint32_t cta;    ///< linear %ctaid, x fastest
  uint32_t warp;   ///< linear %tid / 32
  uint32_t cluster_ctarank;
  uint32_t smid;
  uint32_t hardware_warpid;  ///< %warpid: the SM's warp slot
  uint32_t lost;             ///< records that had no room
  uint32_t version;          ///< kPointTraceVersion
  uint64_t clock;            ///< %clock64 at the start
  uint64_t globaltimer_ns;   ///< %globaltimer at the same time
  uint64_t end_clock;        ///< of a thread that exits, the last one; 0: none has
  uint64_t end_globaltimer_ns;
};
static_assert(sizeof(PointTraceHeader) == 64);

/// The variable.
struct alignas(16) PointTrace {
  uint64_t records = 0;         ///< device address of warps * records_of_a_warp() PointRecord
  uint64_t headers = 0;         ///< device address of warps PointTraceHeader
  uint32_t capacity = 0;        ///< records of lane 0
  uint32_t other_capacity = 0;  ///< of each other lane
  uint32_t warps_per_cta = 0;
  uint32_t version = kPointTraceVersion;  ///< the text's initialiser

  uint64_t records_of_a_warp() const { return uint64_t{capacity} + 31u * uint64_t{other_capacity}; }
};
static_assert(sizeof(PointTrace) == 32);

}  // namespace sm100
