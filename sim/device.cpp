// SPDX-License-Identifier: Apache-2.0
#include "sim/device.h"

#include <algorithm>

namespace sm100::sim {

using models::Cycles;
using models::now;

namespace {
/// Somebody has found what ends the run.
bool stopped() { return (sc_core::sc_get_status() & (sc_core::SC_STOPPED | sc_core::SC_END_OF_SIMULATION)) != 0; }
}  // namespace

bool Device::run_until(Cycles until) {
  models::SuspensionLimit& limit = gpu.try_wait_limit();
  while (observer.violations().empty() && !stopped()) {
    // A wait that begins from now on gives up a whole limit later at the earliest.
    reached_ = std::min({until, reached_ + limit.cycles(), limit.next().value_or(until)});
    // The clock stops short of it when the next event is later.
    sc_core::sc_start(models::cycles(reached_ - std::min(reached_, now())), sc_core::SC_EXIT_ON_STARVATION);
    if (!observer.violations().empty() || stopped()) break;
    const std::optional<Cycles> next = limit.next();
    const bool starved = !models::Scheduler::get().pending();
    if (starved) {
      if (left_before_ != limit.times_left()) last_activity_ = now();
      left_before_ = limit.times_left();
      if (!next) return false;
      if (*next > until) return true;
    }
    if (next && (starved || *next <= reached_)) {
      reached_ = *next;
      if (reached_ > now()) sc_core::sc_start(models::cycles(reached_ - now()), sc_core::SC_RUN_TO_TIME);
      limit.end_due();
    } else if (reached_ >= until) {
      return true;
    }
  }
  return true;
}

}  // namespace sm100::sim
