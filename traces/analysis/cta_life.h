// SPDX-License-Identifier: Apache-2.0
/// Where the time of a CTA goes in a kernel that computes one tile per CTA: from its first event to its first copy,
/// from that to the first data, the k loop's period, the epilogue, the gap until the SM's next CTA begins.
///
/// The intervals are read off the role spans alone, so a simulation and a timeline that was measured on hardware
/// give the same ones.  CTAs that are the first on their SM are apart: they find caches cold.
#pragma once

#include <string>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

/// One interval over all CTAs that have it, in nanoseconds; percentiles are by nearest rank.
struct IntervalStatistics {
  size_t count = 0;
  double p10 = 0, median = 0, p90 = 0;
};

struct CtaInterval {
  std::string what;  ///< "start to first copy"; stable, for programs too
  IntervalStatistics first_wave, later_waves;
};

/// In the order of a CTA's life; intervals that no CTA has are left out.  Empty unless each CTA has one accumulator
/// and its load warp waits for it: persistent kernels overlap those of their tiles.
std::vector<CtaInterval> cta_intervals(const Trace& trace);

/// The same intervals of two traces; one that either lacks is left out.
struct CtaIntervalDiff {
  std::string what;
  IntervalStatistics first_wave_a, first_wave_b, later_waves_a, later_waves_b;
};
std::vector<CtaIntervalDiff> compare_cta_intervals(const Trace& a, const Trace& b);

}  // namespace sm100::traces
