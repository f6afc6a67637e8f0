// SPDX-License-Identifier: Apache-2.0
/// What a unit test of a hardware model needs: the profile, an observer that remembers, and a thread that
/// stimulates.
#pragma once

#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "kernels/host/scenario.h"
#include "models/jitter.h"
#include "models/observer.h"
#include "models/scheduler.h"
#include "models/time.h"

namespace sm100::models {

class RecordingObserver : public Observer {
 public:
  void mbarrier_event(const MbarrierEvent& e) override { events.push_back(e); }
  void unit_span(const UnitSpan& s) override { spans.push_back(s); }
  void violation(const Violation& v) override { violations.push_back(v); }
  /// Id of the only violation, "" when clean, "many" otherwise.
  std::string violation_id() const {
    return violations.empty() ? "" : violations.size() == 1 ? violations[0].id : "many";
  }

  std::vector<MbarrierEvent> events;
  std::vector<UnitSpan> spans;
  std::vector<Violation> violations;
};

/// Runs `body` as a thread from time 0 until nothing is left to do.
class Stimulus : Thread {
 public:
  explicit Stimulus(std::function<void()> body) : Thread(512 * 1024), body_(std::move(body)) { begin_at_once(); }

 private:
  void run() override { body_(); }
  std::function<void()> body_;
};

inline DeviceProfile b200() { return host::load_profile("b200"); }

}  // namespace sm100::models
