// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/trace_download.h"

#include <algorithm>

namespace sm100::cuda {
namespace {

/// The records of one warp that are there.
struct Story {
  const DeviceTraceHeader* header;
  const DeviceTraceRecord* records;
  uint32_t count;
  uint64_t lost;
  std::vector<uint64_t> clocks;  ///< of each record, all 64 bits
};

std::vector<Story> stories(const std::vector<DeviceTraceHeader>& headers,
                           const std::vector<DeviceTraceRecord>& records, uint32_t capacity) {
  std::vector<Story> all;
  for (size_t w = 0; w < headers.size(); ++w) {
    if (headers[w].magic != kDeviceTraceMagic) continue;  // never ran
    Story story{&headers[w], &records[w * capacity], 0, 0, {}};
    uint64_t clock = headers[w].clock;
    while (story.count < capacity && story.records[story.count].sequence == story.count + 1) {
      clock += uint32_t(story.records[story.count].clock - uint32_t(clock));
      story.clocks.push_back(clock);
      ++story.count;
    }
    if (headers[w].records_wanted > capacity) story.lost = headers[w].records_wanted - capacity;
    all.push_back(std::move(story));
  }
  return all;
}

DeviceTraceKind kind_of(const DeviceTraceRecord& r) { return DeviceTraceKind(r.head & 0xff); }

traces::ClockFit fit(const std::vector<Story>& all) {
  std::vector<traces::ClockSample> samples;
  for (const Story& story : all) {
    const DeviceTraceHeader& h = *story.header;
    samples.push_back({h.smid, h.clock, h.globaltimer_ns});
    for (uint32_t i = 0; i < story.count; ++i) {
      const DeviceTraceRecord& r = story.records[i];
      const uint64_t ns = uint32_t(r.w[0]) | uint64_t(uint32_t(r.w[1])) << 32;
      // 0: the kernel still runs, and the record's second half is on its way.
      if (kind_of(r) == DeviceTraceKind::clock && ns != 0) samples.push_back({h.smid, story.clocks[i], ns});
    }
  }
  return traces::ClockFit(samples);
}

/// Turns one warp's records into spans on its track.  What a warp was in the middle of ends with its last record.
class SpanBuilder {
 public:
  SpanBuilder(traces::Recorder& recorder, traces::TrackId track, const traces::ClockFit& clocks, uint32_t sm,
              const std::vector<BarrierArray>& barriers)
      : recorder_(recorder), track_(track), clocks_(clocks), sm_(sm), barriers_(barriers) {}

  void add(const DeviceTraceRecord& r, uint64_t clock) {
    now_ = std::max(now_, clocks_.cycles(sm_, clock));
    if (kind_of(r) == DeviceTraceKind::begin) begin(r);
    if (kind_of(r) == DeviceTraceKind::end && !open_.empty()) end();
  }
  void finish() {
    while (!open_.empty()) end();
  }

 private:
  void begin(const DeviceTraceRecord& r) {
    // TraceEvent and SpanKind number the role kinds alike; the simulator asserts it.
    traces::Span span{.begin = now_, .track = track_, .kind = traces::SpanKind(r.head >> 8 & 0xff)};
    const uint32_t barrier = 8 * (r.wait & 0x7fff);
    for (const BarrierArray& a : barriers_)
      if (barrier >= a.base.offset() && barrier < a.base.offset() + 8u * uint32_t(a.stages))
        span.args.pipeline = recorder_.intern(a.name);
    span.args.stage = int16_t(int(r.head >> 16) - 1);
    span.args.phase = int(r.wait >> 15) - 1;
    span.args.tile_m = r.w[0];
    span.args.tile_n = r.w[1];
    span.args.k = r.w[2];
    span.args.bytes = r.w[3];
    open_.push_back(span);
  }
  void end() {
    traces::Span span = open_.back();
    open_.pop_back();
    span.end = now_;
    recorder_.span(span);
  }

  traces::Recorder& recorder_;
  traces::TrackId track_;
  const traces::ClockFit& clocks_;
  uint32_t sm_;
  const std::vector<BarrierArray>& barriers_;
  std::vector<traces::Span> open_;
  uint64_t now_ = 0;
};

uint32_t total_warps(const host::LaunchShape& shape) {
  return shape.grid.x * shape.grid.y * shape.grid.z * uint32_t(shape.warps);
}

}  // namespace

TraceBuffers::TraceBuffers(const host::LaunchShape& shape, uint32_t capacity)
    : warps_(total_warps(shape)),
      warps_per_cta_(uint32_t(shape.warps)),
      capacity_(capacity),
      records_(uint64_t(warps_) * capacity * sizeof(DeviceTraceRecord)),
      headers_(uint64_t(warps_) * sizeof(DeviceTraceHeader)) {
  SM100_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  clear();
}

TraceBuffers::~TraceBuffers() {
  if (device_answers()) cudaStreamDestroy(stream_);
}

DeviceTrace TraceBuffers::device_trace() const {
  return {.records = reinterpret_cast<DeviceTraceRecord*>(records_.address().value),
          .headers = reinterpret_cast<DeviceTraceHeader*>(headers_.address().value),
          .capacity = capacity_,
          .warps_per_cta = warps_per_cta_};
}

void TraceBuffers::clear() {
  records_.clear();
  headers_.clear();
}

DownloadedTrace TraceBuffers::download(const host::KernelRun& run) const {
  std::vector<DeviceTraceHeader> headers(warps_);
  std::vector<DeviceTraceRecord> records(size_t(warps_) * capacity_);
  headers_.download(headers.data(), headers_.bytes(), stream_);
  records_.download(records.data(), records_.bytes(), stream_);
  const std::vector<Story> all = stories(headers, records, capacity_);
  const traces::ClockFit clocks = fit(all);
  const std::vector<BarrierArray> barriers = run.barriers();

  WarpTracks tracks(run);
  for (const Story& story : all) {  // regions are in order of CTA, then warp
    const DeviceTraceHeader& h = *story.header;
    const traces::TrackId track = tracks.add(h.cta, h.smid, h.warp, story.count, story.lost);
    SpanBuilder spans(tracks.recorder(), track, clocks, h.smid, barriers);
    for (uint32_t i = 0; i < story.count; ++i) spans.add(story.records[i], story.clocks[i]);
    spans.finish();
  }
  return tracks.finish(clocks);
}

}  // namespace sm100::cuda
