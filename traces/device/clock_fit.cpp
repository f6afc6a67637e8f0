// SPDX-License-Identifier: Apache-2.0
#include "traces/device/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sm100::traces {

ClockFit::ClockFit(const std::vector<ClockSample>& samples) {
  if (samples.empty()) throw std::invalid_argument("a clock fit needs samples");
  uint64_t earliest = samples.front().globaltimer_ns, bits = 0;
  std::map<uint32_t, std::vector<const ClockSample*>> by_sm;
  for (const ClockSample& s : samples) {
    earliest = std::min(earliest, s.globaltimer_ns);
    bits |= s.globaltimer_ns;
    by_sm[s.sm].push_back(&s);
  }
  step_ns_ = bits == 0 ? 1 : bits & (~bits + 1);

  // The rate, from the SM whose samples lie furthest apart: a step at either end matters least there.
  int64_t longest = 0;
  for (auto& [sm, list] : by_sm) {
    // The timer is read before the clock, so an earlier clock may hold a later step of the timer.
    std::sort(list.begin(), list.end(), [](const auto* a, const auto* b) { return a->clock < b->clock; });
    const ClockSample &first = *list.front(), &last = *list.back();
    const auto ns = int64_t(last.globaltimer_ns - first.globaltimer_ns);
    if (ns > longest) {
      longest = ns;
      // Least squares over all of the SM's samples: the steps average out.
      double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
      for (const ClockSample* s : list) {
        const double x = double(int64_t(s->globaltimer_ns - first.globaltimer_ns)),
                     y = double(s->clock - first.clock);
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
      }
      const double spread = n * sxx - sx * sx;
      if (spread > 0) cycles_per_ns_ = (n * sxy - sx * sy) / spread;
    }
  }

  for (const auto& [sm, list] : by_sm) {
    const uint64_t first = list.front()->clock;
    double low = -1e300, high = 1e300;
    for (const ClockSample* s : list) {
      const double at = double(s->globaltimer_ns - earliest) - double(s->clock - first) / cycles_per_ns_;
      low = std::max(low, at);
      high = std::min(high, at + double(step_ns_));
    }
    sms_[sm] = {first, (low + high) / 2};
  }
}

uint64_t ClockFit::cycles(uint32_t sm, uint64_t clock) const {
  const Sm& s = sms_.at(sm);
  const double ns = s.offset_ns + double(int64_t(clock - s.first_clock)) / cycles_per_ns_;
  return uint64_t(std::max(0.0, std::round(ns * cycles_per_ns_)));
}

}  // namespace sm100::traces
