// SPDX-License-Identifier: Apache-2.0
/// Where the time of a CTA goes in a kernel that computes one tile per CTA: from its first event to its first copy,
/// from that to the first data, the k loop's period, the epilogue, the gap until the SM's next CTA begins.
///
/// The legs are read off the role spans alone, so a simulation and a timeline that was measured on hardware give
/// the same ones.  CTAs that are the first on their SM are apart: they find caches cold.
#pragma once

#include <string>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

/// One leg over all CTAs that have it, in nanoseconds; percentiles are by nearest rank.
struct LegStatistics {
  size_t count = 0;
  double p10 = 0, median = 0, p90 = 0;
};

struct CtaLeg {
  std::string what;  ///< "start to first copy"; stable, for programs too
  LegStatistics first_wave, later_waves;
};

/// In the order of a CTA's life; legs that no CTA has are left out.  Empty unless each CTA has one accumulator and
/// its load warp waits for it: persistent kernels overlap the legs of their tiles.
std::vector<CtaLeg> cta_legs(const Trace& trace);

/// The same legs of two traces; one that either lacks is left out.
struct CtaLegDiff {
  std::string what;
  LegStatistics first_wave_a, first_wave_b, later_waves_a, later_waves_b;
};
std::vector<CtaLegDiff> compare_cta_legs(const Trace& a, const Trace& b);

}  // namespace sm100::traces
