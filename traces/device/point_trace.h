// SPDX-License-Identifier: Apache-2.0
/// From what an instrumented kernel has recorded (kernels/isa/point_trace.h) to what each warp did, in order, with
/// the spans that the simulator derives of the same kernel (docs/ptx.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa/point_trace.h"
#include "traces/device/clock_fit.h"
#include "traces/format/schema.h"

namespace sm100::traces {

/// What a point of the text is, by its number: ptx::Point, as far as it is needed here.
struct PointMeaning {
  PointKind kind = PointKind::begin;
  TraceEvent event = TraceEvent::wait;
  uint32_t from = ~0u;
};

/// A record with its clock in full.
struct DevicePoint {
  uint64_t clock = 0;
  PointKind kind = PointKind::begin;
  SpanKind event = SpanKind::wait;  ///< of PointKind::begin
  uint32_t from = ~0u;              ///< PointMeaning::from
  int lane = 0;
  int site = -1;         ///< in ptx::Instrumented::points
  uint32_t barrier = 0;  ///< offset in shared memory; 0: none is named
  int parity = -1;       ///< of a wait
};

struct WarpPoints {
  PointTraceHeader header{};
  std::vector<ClockSample> samples;
  std::vector<DevicePoint> points;  ///< of all lanes, by their clocks
  uint64_t lost = 0;                ///< points that had no room
  bool full = false;                ///< some lane's part is: more may be lost than is counted, if the kernel hangs
};

/// Of all warps that have started, in the order of CTAs, then warps.
std::vector<WarpPoints> read_points(const PointTrace& layout, std::span<const PointTraceHeader> headers,
                                    std::span<const PointRecord> records, std::span<const PointMeaning> meanings);

/// Samples of both clocks, for ClockFit.
std::vector<ClockSample> clock_samples(const std::vector<WarpPoints>& warps);

/// A span in cycles of the warp's SM.
struct DeviceSpan {
  uint64_t begin = 0, end = 0;
  SpanKind kind = SpanKind::wait;
  uint32_t barrier = 0;
  int parity = -1;
  int site = -1;
};
/// One at a time, as the simulator derives them.
std::vector<DeviceSpan> derive_spans(const WarpPoints& warp);

}  // namespace sm100::traces
