// SPDX-License-Identifier: Apache-2.0
#include "traces/device/point_trace.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace sm100::traces {
namespace {

DevicePoint point_of(const PointRecord& r, uint64_t clock, int lane, std::span<const PointMeaning> meanings) {
  DevicePoint p{.clock = clock, .lane = lane, .site = int(r.what >> 16) - 1};
  if (p.site < 0 || size_t(p.site) >= meanings.size())
    throw std::invalid_argument("the records are of another text: there is no point " + std::to_string(p.site));
  p.kind = meanings[size_t(p.site)].kind;
  p.event = SpanKind(meanings[size_t(p.site)].event);  // TraceEvent and SpanKind number the role kinds alike
  p.from = meanings[size_t(p.site)].from;
  p.barrier = 4 * (r.what & 0xfffe);
  if (p.kind == PointKind::begin && p.event == SpanKind::wait) p.parity = int(r.what & 1);
  return p;
}

/// The story of one lane, at the end of what the warp has.
void read_lane(WarpPoints& warp, std::span<const PointRecord> records, int lane,
               std::span<const PointMeaning> meanings) {
  uint64_t clock = warp.header.clock, ns = warp.header.globaltimer_ns;
  size_t i = 0;
  for (; i < records.size() && records[i].what != 0; ++i) {
    clock += uint32_t(records[i].clock - uint32_t(clock));
    if (records[i].what != kClockSample) {
      warp.points.push_back(point_of(records[i], clock, lane, meanings));
    } else if (i + 1 < records.size() && records[i + 1].what != 0) {
      ns += uint32_t(records[++i].clock - uint32_t(ns));
      warp.samples.push_back({warp.header.smid, clock, ns});
    }
  }
  warp.full |= !records.empty() && i == records.size();
}

}  // namespace

std::vector<WarpPoints> read_points(const PointTrace& layout, std::span<const PointTraceHeader> headers,
                                    std::span<const PointRecord> records, std::span<const PointMeaning> meanings) {
  std::vector<WarpPoints> warps;
  for (size_t w = 0; w < headers.size(); ++w) {
    const PointTraceHeader& h = headers[w];
    if (h.magic != kPointTraceMagic) continue;  // never ran
    WarpPoints warp{.header = h, .samples = {{h.smid, h.clock, h.globaltimer_ns}}, .points = {}, .lost = h.lost};
    size_t at = w * layout.records_of_a_warp();
    for (int lane = 0; lane < 32; ++lane) {
      const uint32_t capacity = lane == 0 ? layout.capacity : layout.other_capacity;
      read_lane(warp, records.subspan(at, capacity), lane, meanings);
      at += capacity;
    }
    if (h.end_clock != 0) warp.samples.push_back({h.smid, h.end_clock, h.end_globaltimer_ns});
    std::stable_sort(warp.points.begin(), warp.points.end(),
                     [](const DevicePoint& a, const DevicePoint& b) { return a.clock < b.clock; });
    warps.push_back(std::move(warp));
  }
  return warps;
}

std::vector<ClockSample> clock_samples(const std::vector<WarpPoints>& warps) {
  std::vector<ClockSample> samples;
  for (const WarpPoints& w : warps) samples.insert(samples.end(), w.samples.begin(), w.samples.end());
  return samples;
}

std::vector<DeviceSpan> derive_spans(const WarpPoints& warp) {
  std::vector<DeviceSpan> spans;
  std::optional<DeviceSpan> open;
  const auto close = [&](uint64_t when) {
    if (!open) return;
    open->end = when;
    spans.push_back(*open);
    open.reset();
  };
  bool just_over = false;  // the point before has closed spans.back()
  for (const DevicePoint& p : warp.points) {
    const bool after_over = std::exchange(just_over, p.kind == PointKind::over && open);
    if (p.kind == PointKind::over) close(p.clock);
    if (p.kind != PointKind::begin) continue;
    // A look at a barrier that has found nothing, and the loop that waits for it, are one wait.
    if (after_over && p.event == SpanKind::wait && spans.back().kind == SpanKind::wait &&
        spans.back().barrier == p.barrier && spans.back().parity == p.parity) {
      open = spans.back();
      spans.pop_back();
      continue;
    }
    constexpr uint32_t kNothing = 1u << 31;
    if ((p.from & (open ? 1u << unsigned(open->kind) : kNothing)) == 0) continue;
    const bool wait = p.event == SpanKind::wait;
    const bool goes_on =
        open && open->kind == p.event && (!wait || (open->barrier == p.barrier && open->parity == p.parity));
    if (goes_on) continue;
    close(p.clock);
    open = DeviceSpan{
        .begin = p.clock, .kind = p.event, .barrier = wait ? p.barrier : 0, .parity = p.parity, .site = p.site};
  }
  const uint64_t last = warp.points.empty() ? 0 : warp.points.back().clock;
  close(std::max(warp.header.end_clock, last));
  return spans;
}

}  // namespace sm100::traces
