// SPDX-License-Identifier: Apache-2.0
/// What the device trace recorder leaves in global memory; the host reads it, the device writes it.
///
/// Every warp of the grid owns a region: one header and `capacity` records.  The host zeroes headers and records
/// before the launch.  A region is filled from the front and never wraps: records past the capacity are counted,
/// not written, so what is there is always the beginning of the warp's story, also of one that hangs.
///
/// Reading a region: no header (`magic` is 0) means that the warp never ran, as in CTAs that CLC cancelled.
/// Record i is there if its `sequence` is i + 1; the first that is not ends the story.  While the kernel still
/// runs, the words w of the last record may be on their way: a clock sample of 0 ns is none.  `records_wanted` is 0
/// unless the region overflowed; it is then the number of records so far, and records_wanted - capacity were lost.
#pragma once

#include <cstdint>

#include "kernels/isa/address.h"
#include "kernels/isa/trace.h"

namespace sm100 {

inline constexpr uint32_t kDeviceTraceMagic = 0x53313030;  ///< "S100"
inline constexpr uint32_t kDeviceTraceVersion = 2;         ///< of the layout below
inline constexpr uint32_t kClockSampleInterval = 32;       ///< records from one clock sample to the next

enum class DeviceTraceKind : uint8_t {
  begin = 1,  ///< of a span; all words
  end = 2,    ///< closes the innermost open begin of its warp; first 16 bytes only
  clock = 3,  ///< both clocks: w[0], w[1] hold %globaltimer, low word first
};

/// One record, written as one (end) or two 16-byte words.
struct alignas(16) DeviceTraceRecord {
  uint32_t clock;     ///< low half of %clock64; successive records of a warp are less than 2^32 cycles apart
  uint32_t sequence;  ///< 1, 2, ... within the warp
  uint32_t head;      ///< device_trace_head
  uint32_t wait;      ///< device_trace_wait
  int32_t w[4];       ///< tile_m, tile_n, k, bytes; -1: does not apply
};
static_assert(sizeof(DeviceTraceRecord) == 32);

/// kind in bits 0-7, TraceEvent in 8-15, stage + 1 in 16-31.
SM100_HD constexpr uint32_t device_trace_head(DeviceTraceKind kind, TraceEvent event, int stage) {
  return uint32_t(kind) | uint32_t(event) << 8 | uint32_t(stage + 1) << 16;
}
/// Barrier: its offset in the shared window / 8 in bits 0-14 (0: none); phase + 1 in bits 15-31.
SM100_HD constexpr uint32_t device_trace_wait(SmemAddr barrier, int phase) {
  return barrier.offset() / 8 | uint32_t(phase + 1) << 15;
}

struct alignas(16) DeviceTraceHeader {
  uint32_t magic;            ///< kDeviceTraceMagic once the warp has started
  uint32_t cta;              ///< linear %ctaid, x fastest
  uint32_t warp;             ///< %tid.x / 32: decides the role
  uint32_t cluster_ctarank;  ///< %cluster_ctarank
  uint32_t smid;             ///< %smid
  uint32_t records_wanted;   ///< 0, or more than `capacity`
  uint32_t version;          ///< kDeviceTraceVersion
  uint32_t hardware_warpid;  ///< %warpid: the SM's warp slot
  uint64_t clock;            ///< %clock64 before the first record
  uint64_t globaltimer_ns;   ///< %globaltimer at the same time: one clock for the device, in coarse steps
};
static_assert(sizeof(DeviceTraceHeader) == 48);

/// Kernel parameter.  Region of a warp: cta * warps_per_cta + warp.
struct DeviceTrace {
  DeviceTraceRecord* records = nullptr;  ///< device memory, capacity * warps_per_cta * CTAs of the grid
  DeviceTraceHeader* headers = nullptr;  ///< device memory, warps_per_cta * CTAs of the grid
  uint32_t capacity = 0;                 ///< records per warp
  uint32_t warps_per_cta = 0;
};

}  // namespace sm100
