// SPDX-License-Identifier: Apache-2.0
/// One time axis for the clocks of many SMs.
///
/// %clock64 is exact but starts anywhere on each SM; %globaltimer is common to all but moves in steps (32 ns on an
/// H200).  A sample holds both, read together.  The rate is one for the chip; each SM's offset is the middle of the
/// interval that its samples allow: a reading g means that the time was in [g, g + step).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace sm100::traces {

struct ClockSample {
  uint32_t sm;
  uint64_t clock;           ///< %clock64, cycles
  uint64_t globaltimer_ns;  ///< %globaltimer
};

class ClockFit {
 public:
  /// Throws std::invalid_argument without samples.
  explicit ClockFit(const std::vector<ClockSample>& samples);

  double cycles_per_ns() const { return cycles_per_ns_; }
  /// Largest power of two that divides every globaltimer reading: its step.
  uint64_t step_ns() const { return step_ns_; }
  /// Cycles since the earliest sample of any SM.
  uint64_t cycles(uint32_t sm, uint64_t clock) const;

 private:
  struct Sm {
    uint64_t first_clock;
    double offset_ns;  ///< time of first_clock, from the earliest sample
  };
  double cycles_per_ns_ = 1;
  uint64_t step_ns_ = 1;
  std::map<uint32_t, Sm> sms_;
};

}  // namespace sm100::traces
