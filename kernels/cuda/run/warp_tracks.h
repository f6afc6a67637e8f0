// SPDX-License-Identifier: Apache-2.0
/// The trace of a launch on a GPU as it is put together: a track for each CTA, and below it one for each warp.
#pragma once

#include <cstdint>

#include "kernels/host/kernel_run.h"
#include "traces/device/clock_fit.h"
#include "traces/format/recorder.h"

namespace sm100::cuda {

struct DownloadedTrace {
  traces::Trace trace;            ///< metadata: source, ticks_per_second and dropped_events are set
  uint64_t events_of_a_warp = 0;  ///< the most events that one warp has met, recorded or not
};

class WarpTracks {
 public:
  /// @param run  whose roles name the warps
  explicit WarpTracks(const host::KernelRun& run);

  /// Warps come in the order of their CTAs.
  /// @param recorded, lost  events of this warp
  traces::TrackId add(uint32_t cta, uint32_t sm, uint32_t warp, uint64_t recorded, uint64_t lost);
  traces::Recorder& recorder() { return recorder_; }
  DownloadedTrace finish(const traces::ClockFit& clocks);

 private:
  const host::KernelRun& run_;
  traces::Recorder recorder_;
  traces::TrackId gpu_, cta_track_ = traces::kNoTrack;
  uint32_t cta_ = ~0u;
  uint64_t lost_ = 0, most_ = 0;
};

}  // namespace sm100::cuda
