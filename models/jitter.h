/// Perturbs asynchronous latencies within what the hardware is free to do, to shake out orderings.
/// Off unless a seed is given; the same seed gives the same run.
#pragma once

#include <cstdint>
#include <optional>

#include "models/profiles/profile.h"

namespace sm100::models {

class Jitter {
 public:
  Jitter(std::optional<uint64_t> seed, const DeviceProfile& profile)
      : state_(seed.value_or(0)), enabled_(seed.has_value()), profile_(profile) {}

  /// Extra cycles of an asynchronous completion.
  Cycles async() { return draw(uint64_t(profile_.jitter.async_cycles)); }
  /// Extra cycles until a woken warp runs.
  Cycles wakeup() { return draw(uint64_t(profile_.jitter.wakeup_cycles)); }

 private:
  Cycles draw(uint64_t largest) {
    if (!enabled_ || largest == 0) return 0;
    // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % (largest + 1);
  }

  uint64_t state_;
  bool enabled_;
  const DeviceProfile& profile_;
};

}  // namespace sm100::models
