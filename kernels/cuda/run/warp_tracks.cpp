// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/warp_tracks.h"

#include <fmt/format.h>

#include <algorithm>

namespace sm100::cuda {

WarpTracks::WarpTracks(const host::KernelRun& run)
    : run_(run), gpu_(recorder_.add_track(traces::TrackKind::gpu, "GPU")) {}

traces::TrackId WarpTracks::add(uint32_t cta, uint32_t sm, uint32_t warp, uint64_t recorded, uint64_t lost) {
  if (cta != cta_) {
    cta_ = cta;
    cta_track_ = recorder_.add_track(traces::TrackKind::cta, fmt::format("CTA {} on SM {}", cta, sm), gpu_, int(sm),
                                     int(cta));
  }
  lost_ += lost;
  most_ = std::max(most_, recorded + lost);
  return recorder_.add_track(traces::TrackKind::role, run_.role(int(warp)), cta_track_, int(sm), int(cta),
                             int(warp));
}

DownloadedTrace WarpTracks::finish(const traces::ClockFit& clocks) {
  DownloadedTrace result{std::move(recorder_.trace()), most_};
  result.trace.metadata.source = "hardware";
  result.trace.metadata.ticks_per_second = clocks.cycles_per_ns() * 1e9;
  result.trace.metadata.dropped_events = lost_;
  return result;
}

}  // namespace sm100::cuda
