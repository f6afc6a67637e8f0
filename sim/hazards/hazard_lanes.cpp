// SPDX-License-Identifier: Apache-2.0
// Lanes that wait for a phase together: each must be past its wait before the next phase of the barrier completes,
// or the parity that it asks for is that of the open phase, and it waits for ever (LN2).  Lanes meet at what they
// execute together (.sync, .aligned); a lane that signals by itself has passed its waits, too.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "models/time.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/text.h"

namespace sm100::sim {

void HazardChecker::lanes_have_waited(const Thread& t, uint32_t offset) {
  WarpState& self = warp(t);
  Barrier& barrier = barrier_of(cta(t.slot), offset);
  const uint32_t own = barrier_component(rank(t.slot), barrier_index(offset));
  const int64_t phase = int64_t(barrier.completed.happened.of(own)) - int64_t(barrier.ended) - 1;
  step(t);
  const LanesWait wait{&barrier, phase, now(t).clock, t.lanes, t.lanes, 0, t.by.loc};
  const auto known = std::find_if(self.lane_waits.begin(), self.lane_waits.end(),
                                  [&](const LanesWait& w) { return w.barrier == &barrier; });
  if (known != self.lane_waits.end()) {
    *known = wait;
  } else {
    self.lane_waits.push_back(wait);
    barrier.lane_waits |= 1u << t.by.warp;
  }
  self.lanes_apart = true;
}

void HazardChecker::lanes_meet(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.lanes_meet(by); })) return;
  WarpState& self = warp(t);
  if (!self.lanes_apart || std::popcount(t.lanes) < 2) return;
  bool stepped = false;
  self.lanes_apart = false;
  for (LanesWait& wait : self.lane_waits) {
    if ((wait.late & t.lanes) != 0) {
      if (!std::exchange(stepped, true)) step(t);
      wait.late &= ~t.lanes;
      if (wait.late == 0) wait.met = now(t).clock;
    }
    self.lanes_apart |= wait.late != 0 || wait.ahead != 0;
  }
}

void HazardChecker::lanes_signal(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.lanes_signal(by); })) return;
  WarpState& self = warp(t);
  if (!self.lanes_apart) return;
  self.lanes_apart = false;
  for (LanesWait& wait : self.lane_waits) {
    if (wait.late == 0) {
      // What ends the phase may wait for this signal, too; a copy's bytes hand on no clock of its thread.
      wait.ahead = 0;
      continue;
    }
    wait.late &= ~t.lanes;
    if (wait.late == 0)
      wait.met = now(t).clock;
    else if (wait.ahead == 0)
      wait.ahead = t.lanes, wait.ahead_at = t.by.loc;
    self.lanes_apart |= wait.late != 0 || wait.ahead != 0;
  }
}

void HazardChecker::check_lanes(const models::MbarrierEvent& e, Barrier& barrier) {
  CtaState& in = cta(e.slot);
  const auto knows_until = [&](int warp) {
    const uint32_t own = component(rank(e.slot), warp, kWarp);
    return std::max(barrier.completed.happened.of(own), barrier.completed.likely.of(own));
  };
  for (uint32_t left = std::exchange(barrier.lane_waits, 0); left != 0; left &= left - 1) {
    const int w = std::countr_zero(left);
    std::erase_if(in.warps[size_t(w)].lane_waits, [&](const LanesWait& wait) {
      if (wait.barrier != &barrier) return false;
      // What completes the phase waited for something that some lanes did after their wait, others perhaps before.
      const Clock until = knows_until(w);
      const bool in_time = wait.late == 0 && wait.met <= until;
      if (wait.phase == e.phase - 1 && until >= wait.since && wait.ahead != 0 && !in_time)
        report_late_lanes(e, w, wait);
      return true;
    });
  }
}

void HazardChecker::report_late_lanes(const models::MbarrierEvent& e, int w, const LanesWait& wait) {
  if (!new_pair(wait.at, wait.ahead_at)) return;
  const BarrierName name = barrier_name(kernel(e.slot), e.offset);
  const std::string barrier = name.array ? fmt::format("{}[{}]", name.array->name, name.stage)
                                         : fmt::format("the mbarrier at {:#x}", e.offset);
  const bool one = std::popcount(wait.ahead) == 1;
  const std::string ahead = one ? fmt::format("lane {}", std::countr_zero(wait.ahead))
                                : fmt::format("{} lanes", std::popcount(wait.ahead));
  models::Violation v{.id = "LN2",
                      .message = fmt::format(
                          "{} lanes of a warp wait for {} of {}, {} go{} on before they meet, and phase {} "
                          "completes: a lane that comes later to its wait has missed it and waits for ever; works "
                          "on hardware as long as the lanes stay together",
                          std::popcount(wait.waited),
                          wait.phase < 0 ? "the phase before the first" : fmt::format("phase {}", wait.phase),
                          barrier, ahead, one ? "es" : "", e.phase),
                      .time = e.time,
                      .slot = e.slot,
                      .barrier = e.offset,
                      .source = {.warp = int8_t(w), .loc = wait.at, .cta = e.source.cta}};
  v.warning = true;
  v.details.push_back(
      fmt::format("missing: __syncwarp() (bar.warp.sync) or elect.sync between the wait and what {} "
                  "do{} at {}, or one lane that waits",
                  ahead, one ? "es" : "", line_of(wait.ahead_at)));
  report_.violation(v);
}

}  // namespace sm100::sim
