// SPDX-License-Identifier: Apache-2.0
// One time axis from the clocks of several SMs.  %globaltimer moves in steps of 32 ns and is read before %clock64.

#include "traces/device/clock_fit.h"

#include "catch.h"

using namespace sm100::traces;

namespace {

/// What an SM whose clock reads `start` at time 0 would record at `ns`, at 2 cycles a nanosecond.
ClockSample sample(uint32_t sm, uint64_t start, uint64_t ns) { return {sm, start + 2 * ns, ns / 32 * 32}; }

}  // namespace

TEST_CASE("clock fit: rate and offsets of two SMs within a step of the timer", "[clock]") {
  std::vector<ClockSample> samples;
  for (uint64_t ns = 1000; ns < 200000; ns += 777) {
    samples.push_back(sample(0, 5000, ns));
    samples.push_back(sample(7, 900000000, ns + 100));
  }
  const ClockFit fit(samples);
  CHECK(fit.step_ns() == 32);
  CHECK(fit.cycles_per_ns() == Approx(2).epsilon(1e-4));
  const auto gap = int64_t(fit.cycles(7, 900000000 + 2 * 50000) - fit.cycles(0, 5000 + 2 * 50000));
  CHECK(std::abs(gap) <= 64);  // the same moment on both
}

TEST_CASE("clock fit: an earlier clock may hold a later step of the timer", "[clock]") {
  // Two warps of one SM read the timer in one order and the clock in the other.
  std::vector<ClockSample> samples = {{0, 100, 1024}, {0, 104, 992}};
  for (uint64_t ns = 1100; ns < 100000; ns += 500) samples.push_back(sample(0, 0, ns));
  CHECK(ClockFit(samples).cycles_per_ns() == Approx(2).epsilon(0.02));
}

TEST_CASE("clock fit: nothing to fit", "[clock]") { CHECK_THROWS(ClockFit({})); }
