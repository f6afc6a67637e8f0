// SPDX-License-Identifier: Apache-2.0
/// Perturbs what the hardware is free to do later, to shake out orderings (`--jitter`, `explore`, `[[delay]]`).
///
/// Off unless there is a seed or a list of delays.  A seed's delay is a hash of the seed and the point's name
/// (models/profiles/jitter_point.h), bounded by [jitter] of the profile; listed delays are added.  The units keep
/// the orders that PTX guarantees: they take the later of the delayed time and that of what must come before.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/observer.h"
#include "models/profiles/jitter_point.h"
#include "models/profiles/profile.h"

namespace sm100::models {

struct Waiter;

/// The longest delay that a seed gives to a point of the site.
Cycles longest_delay(JitterSite site, const DeviceProfile& profile);

class Jitter {
 public:
  Jitter(std::optional<uint64_t> seed, const DeviceProfile& profile);
  Jitter(const Jitter&) = delete;
  Jitter& operator=(const Jitter&) = delete;

  /// Also delays these points.
  void replay(const std::vector<Delay>& delays);
  /// From now on the seed's delays are remembered.
  void record() { recording_ = true; }

  /// What a point is about, for reports.
  struct About {
    int to = -1;           ///< receiving rank
    uint32_t barrier = 0;  ///< offset of the mbarrier that is told; 0: none
  };
  /// Cycles that the next point of this site, of the warp and CTA of `source`, comes later.
  Cycles delay(JitterSite site, const Source& source, About about = {.to = -1, .barrier = 0}) {
    return enabled_ ? next(site, source, about) : 0;
  }
  /// The same for a point whose number is known.
  Cycles delay_at(uint64_t occurrence, JitterSite site, const Source& source,
                  About about = {.to = -1, .barrier = 0}) {
    return enabled_ ? draw({site, source.cta, row(site).of_warp ? source.warp : -1, about.to, occurrence}, source,
                           about.barrier)
                    : 0;
  }
  /// Cycles until a warp whose wait is over goes on.
  Cycles wakeup(const Waiter& waiter, uint32_t barrier = 0);

  /// The last point was none after all.
  void retract() {
    if (recording_ && seed_ && !drawn_.empty() && drawn_.back().point.site == JitterSite::try_wait)
      drawn_.pop_back();
    if (!replayed_.empty() && replayed_.back().delay.point.site == JitterSite::try_wait) replayed_.pop_back();
  }

  /// What the seed has delayed so far, if it was recorded.
  const std::vector<Delay>& drawn() const { return drawn_; }
  /// A listed delay that has occurred.
  struct Replayed {
    Delay delay;
    Cycles time;       ///< when the point was reached
    Source source;     ///< with the line of the instruction
    uint32_t barrier;  ///< offset of the mbarrier; 0: none
  };
  const std::vector<Replayed>& replayed() const { return replayed_; }

 private:
  struct Hash {
    size_t operator()(const JitterPoint& point) const;
  };
  Cycles next(JitterSite site, const Source& source, About about);
  Cycles draw(const JitterPoint& point, const Source& source, uint32_t barrier);
  Cycles seeded(const JitterPoint& point) const;

  std::optional<uint64_t> seed_;
  bool enabled_, recording_ = false;
  const DeviceProfile& profile_;
  std::unordered_map<uint64_t, uint64_t> occurrences_;  ///< by site, CTA, warp, receiving rank
  std::unordered_map<JitterPoint, Cycles, Hash> listed_;
  std::vector<Delay> drawn_;
  std::vector<Replayed> replayed_;
};

}  // namespace sm100::models
