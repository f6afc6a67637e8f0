// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernels/cuda/run/ptx_library.h"
#include "kernels/host/toml_reader.h"
#include "ptx/instrument.h"
#include "traces/device/point_trace.h"

namespace sm100::cuda {
namespace {

class CompiledRecording : public Recording {
 public:
  CompiledRecording(const host::LaunchShape& shape, uint32_t capacity,
                    const std::function<Launch(const DeviceTrace&)>& traced)
      : buffers_(shape, capacity), launch_(traced(buffers_.device_trace())) {}
  const Launch& launch() const override { return launch_; }
  void clear() override { buffers_.clear(); }
  DownloadedTrace download(const host::KernelRun& run) const override { return buffers_.download(run); }

 private:
  TraceBuffers buffers_;
  Launch launch_;
};

/// Barriers and phases of one warp's waits.  A record has the parity; a warp that waits for a barrier again waits
/// for the next phase of that parity.
class WaitedPhases {
 public:
  int phase(uint32_t barrier, int parity) {
    const auto [at, first] = last_.try_emplace(barrier, parity == 0 ? 0 : -1);
    if (!first) at->second += (at->second & 1) == parity ? 2 : 1;
    return at->second;
  }

 private:
  std::map<uint32_t, int> last_;
};

class PtxRecording : public Recording {
 public:
  PtxRecording(const std::string& text, const std::string& name, const std::string& entry, const Launch& plain,
               uint32_t capacity)
      : made_(instrumented(text, name, entry)), library_(made_.text, name), launch_(plain) {
    launch_.kernel = library_.kernel(entry);
    const Dim3 &grid = plain.how.grid, &block = plain.how.block;
    layout_.warps_per_cta = (block.x * block.y * block.z + kWarpLanes - 1) / kWarpLanes;
    layout_.capacity = capacity;
    layout_.other_capacity = std::max(1u, capacity / 32);
    warps_ = uint64_t{grid.x} * grid.y * grid.z * layout_.warps_per_cta;
    records_ = std::make_unique<DeviceBuffer>(warps_ * layout_.records_of_a_warp() * sizeof(PointRecord));
    headers_ = std::make_unique<DeviceBuffer>(warps_ * sizeof(PointTraceHeader));
    layout_.records = records_->address().value;
    layout_.headers = headers_->address().value;
    SM100_CUDA(cudaMemcpy(library_.global(kPointTraceSymbol), &layout_, sizeof layout_, cudaMemcpyHostToDevice));
    SM100_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    clear();
  }
  ~PtxRecording() override {
    if (device_answers()) cudaStreamDestroy(stream_);
  }

  const Launch& launch() const override { return launch_; }
  void clear() override { records_->clear(), headers_->clear(); }
  DownloadedTrace download(const host::KernelRun& run) const override;

 private:
  static ptx::Instrumented instrumented(const std::string& text, const std::string& name,
                                        const std::string& entry) {
    try {
      const ptx::Module module = ptx::parse(text, name);
      return ptx::instrument(module, {module.entry(entry)});
    } catch (const ptx::PtxError& error) { throw host::InputError(error.what()); }
  }
  void add(traces::Recorder& recorder, traces::TrackId track, const traces::WarpPoints& warp,
           const traces::ClockFit& clocks, const std::vector<BarrierArray>& barriers) const;

  ptx::Instrumented made_;
  PtxLibrary library_;
  Launch launch_;
  PointTrace layout_;
  uint64_t warps_ = 0;
  std::unique_ptr<DeviceBuffer> records_, headers_;
  cudaStream_t stream_ = nullptr;
};

void PtxRecording::add(traces::Recorder& recorder, traces::TrackId track, const traces::WarpPoints& warp,
                       const traces::ClockFit& clocks, const std::vector<BarrierArray>& barriers) const {
  WaitedPhases phases;
  for (const traces::DeviceSpan& s : traces::derive_spans(warp)) {
    traces::Span span{.begin = clocks.cycles(warp.header.smid, s.begin),
                      .end = clocks.cycles(warp.header.smid, s.end),
                      .track = track,
                      .kind = s.kind};
    if (s.kind == traces::SpanKind::wait && s.barrier != 0) {
      std::string name = fmt::format("mbarrier {:#x}", s.barrier);
      int stage = 0;
      for (const BarrierArray& a : barriers)
        if (s.barrier >= a.base.offset() && s.barrier < a.base.offset() + 8u * uint32_t(a.stages))
          name = a.name, stage = int(s.barrier - a.base.offset()) / 8;
      span.args.pipeline = recorder.intern(name);
      span.args.stage = int16_t(stage);
      span.args.phase = phases.phase(s.barrier, s.parity);
    }
    recorder.span(span);
  }
}

DownloadedTrace PtxRecording::download(const host::KernelRun& run) const {
  std::vector<PointTraceHeader> headers(warps_);
  std::vector<PointRecord> records(warps_ * layout_.records_of_a_warp());
  headers_->download(headers.data(), headers_->bytes(), stream_);
  records_->download(records.data(), records_->bytes(), stream_);
  std::vector<traces::PointMeaning> meanings;
  for (const ptx::Point& p : made_.points) meanings.push_back({p.kind, p.event, p.from});
  const std::vector<traces::WarpPoints> warps = traces::read_points(layout_, headers, records, meanings);
  const traces::ClockFit clocks(traces::clock_samples(warps));
  const std::vector<BarrierArray> barriers = run.barriers();

  WarpTracks tracks(run);
  for (const traces::WarpPoints& warp : warps) {
    const PointTraceHeader& h = warp.header;
    const traces::TrackId track = tracks.add(h.cta, h.smid, h.warp, warp.points.size(), warp.lost);
    add(tracks.recorder(), track, warp, clocks, barriers);
  }
  return tracks.finish(clocks);
}

}  // namespace

std::unique_ptr<Recording> record_compiled(const host::LaunchShape& shape, uint32_t capacity,
                                           const std::function<Launch(const DeviceTrace&)>& traced) {
  return std::make_unique<CompiledRecording>(shape, capacity, traced);
}

std::unique_ptr<Recording> record_ptx(const std::string& text, const std::string& name, const std::string& entry,
                                      const Launch& plain, uint32_t capacity) {
  return std::make_unique<PtxRecording>(text, name, entry, plain, capacity);
}

}  // namespace sm100::cuda
