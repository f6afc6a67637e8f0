/// What the device trace recorder leaves in global memory; the host reads it, the device writes it.
///
/// Every warp of the grid owns a region: one header and `capacity` records.  The host zeroes headers and records
/// before the launch.  A region is filled from the front and never wraps: events past the capacity are counted,
/// not written, so what is there is always the beginning of the warp's story, also of one that hangs.
///
/// Reading a region: no header (`magic` is 0) means that the warp never ran, as in CTAs that CLC cancelled.
/// Record i is there if its `sequence` is i + 1; the first that is not ends the story.  `events_wanted` is 0
/// unless the region overflowed; it is then the number of events so far, and events_wanted - capacity were lost.
#pragma once

#include <cstdint>

namespace sm100 {

inline constexpr uint32_t kDeviceTraceMagic = 0x53313030;  ///< "S100"
inline constexpr uint32_t kDeviceTraceVersion = 1;         ///< of the layout below

enum class DeviceTraceKind : uint8_t { begin = 1, end = 2 };

/// One event, written as whole 16-byte words.  An end closes the innermost open begin of its warp and has no
/// arguments: its last 16 bytes stay zero.  -1: does not apply (trace.h).
struct alignas(16) DeviceTraceRecord {
  uint64_t globaltimer_ns;  ///< %globaltimer: one clock for the device, in steps of tens of nanoseconds
  uint64_t clock;           ///< %clock64: cycles of this SM
  uint32_t sequence;        ///< 1, 2, ... within the warp
  uint8_t kind;             ///< DeviceTraceKind
  uint8_t event;            ///< TraceEvent; of begins
  int16_t stage;
  int32_t phase;
  uint32_t barrier;  ///< offset in the CTA's shared window, 0: none
  int32_t tile_m, tile_n;
  int32_t k;
  int32_t bytes;
};
static_assert(sizeof(DeviceTraceRecord) == 48);

struct alignas(16) DeviceTraceHeader {
  uint32_t magic;            ///< kDeviceTraceMagic once the warp has started
  uint32_t cta;              ///< linear %ctaid, x fastest
  uint32_t warp;             ///< %tid.x / 32: decides the role
  uint32_t cluster_ctarank;  ///< %cluster_ctarank
  uint32_t smid;             ///< %smid
  uint32_t hardware_warpid;  ///< %warpid: the SM's warp slot
  uint32_t events_wanted;    ///< 0, or more than `capacity`
  uint32_t version;          ///< kDeviceTraceVersion
};
static_assert(sizeof(DeviceTraceHeader) == 32);

/// Kernel parameter.  Region of a warp: cta * warps_per_cta + warp.
struct DeviceTrace {
  DeviceTraceRecord* records = nullptr;  ///< device memory, capacity * warps_per_cta * CTAs of the grid
  DeviceTraceHeader* headers = nullptr;  ///< device memory, warps_per_cta * CTAs of the grid
  uint32_t capacity = 0;                 ///< records per warp
  uint32_t warps_per_cta = 0;
};

}  // namespace sm100
