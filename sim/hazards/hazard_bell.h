// SPDX-License-Identifier: Apache-2.0
/// Hears of hazards where it is enough to know that there are some: the run must then be repeated.
#pragma once

#include <utility>

#include "models/observer.h"
#include "models/scheduler.h"

namespace sm100::sim {

class HazardBell : public models::Observer {
 public:
  void violation(const models::Violation&) override {
    if (!std::exchange(rung_, true)) models::Scheduler::get().stop();
  }
  bool has_rung() const { return rung_; }

 private:
  bool rung_ = false;
};

}  // namespace sm100::sim
