// SPDX-License-Identifier: Apache-2.0
/// What arrivals and commits on their way release, by number: a ring that is as large as it has to be.
///
/// Few are on their way at a time, and each holds the clocks of a whole cluster: a ring for the most that there can
/// ever be would be a quarter of a run's memory, and every release would be written where no cache has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/profiles/profile.h"
#include "sim/hazards/clocks.h"

namespace sm100::sim {

class PendingReleases {
 public:
  /// What the next operation, last() from then on, will release; what is in it is of no use.
  Knowledge& next(models::Cycles now) {
    ++last_;
    while (place().number != 0 && may_land(place(), now) && places_.size() < kMost) grow();
    place().number = last_;
    place().landed = 0;
    return place().released;
  }
  uint32_t last() const { return last_; }
  /// The operation has arrived at a barrier, and may arrive at others, too.
  const Knowledge& landed(uint32_t number, models::Cycles now) {
    Place& at = places_[number % places_.size()];
    if (at.number == number) at.landed = now + 1;
    return at.released;
  }
  size_t size() const { return places_.size(); }

  /// From its first landing on, an operation is taken to have landed everywhere after so many cycles.
  static constexpr models::Cycles kLandsWithin = 8192;

 private:
  struct Place {
    uint32_t number = 0;        ///< 0: of none yet
    models::Cycles landed = 0;  ///< 1 + the cycle of its last landing; 0: it is on its way
    Knowledge released{};
  };
  static constexpr size_t kMost = 4096;  ///< some never land
  static bool may_land(const Place& p, models::Cycles now) {
    return p.landed == 0 || now < p.landed - 1 + kLandsWithin;
  }
  Place& place() { return places_[last_ % places_.size()]; }
  void grow() {
    std::vector<Place> larger(2 * places_.size());
    for (Place& p : places_)
      if (p.number != 0) larger[p.number % larger.size()] = std::move(p);
    places_ = std::move(larger);
  }

  std::vector<Place> places_ = std::vector<Place>(8);
  uint32_t last_ = 0;
};

}  // namespace sm100::sim
