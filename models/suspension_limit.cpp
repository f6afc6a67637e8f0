// SPDX-License-Identifier: Apache-2.0
#include "models/suspension_limit.h"

#include "models/time.h"

namespace sm100::models {

void SuspensionLimit::watch(Waiter& waiter) {
  waiter.limited = ++waits_;
  watched_.push_back({now() + limit_, &waiter, waits_});
}

std::optional<Cycles> SuspensionLimit::next() {
  while (!watched_.empty() && !watched_.front().waits_still()) watched_.pop_front();
  return watched_.empty() ? std::nullopt : std::optional(watched_.front().until);
}

void SuspensionLimit::end_due() {
  Scheduler::get().begin_cycle();  // what else is due now came first
  for (std::optional<Cycles> at = next(); at && *at <= now(); at = next()) {
    Waiter& waiter = *watched_.front().waiter;
    waiter.limited = 0, waiter.gave_up = true;
    waiter.wake.notify(0);
    watched_.pop_front();
  }
}

}  // namespace sm100::models
