// SPDX-License-Identifier: Apache-2.0
#include "models/jitter.h"

#include <algorithm>

#include "models/mbarrier.h"
#include "models/time.h"

namespace sm100::models {

namespace {

/// splitmix64's finaliser.
uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Site, CTA, warp and receiving rank in one word.
uint64_t place_key(JitterSite site, int cta, int warp, int to) {
  return uint64_t(site) | uint64_t(uint8_t(warp)) << 8 | uint64_t(uint8_t(to)) << 16 |
         uint64_t(uint32_t(cta)) << 32;
}

}  // namespace

Cycles longest_delay(JitterSite site, const DeviceProfile& profile) {
  switch (row(site).bound) {
    case JitterBound::async: return Cycles(profile.jitter.async_cycles);
    case JitterBound::wakeup: return Cycles(profile.jitter.wakeup_cycles);
    case JitterBound::issue: return Cycles(profile.jitter.issue_cycles);
    case JitterBound::start: return Cycles(profile.jitter.start_cycles);
  }
  return 0;
}

size_t Jitter::Hash::operator()(const JitterPoint& p) const {
  return size_t(mixed(mixed(place_key(p.site, p.cta, p.warp, p.to)) + p.occurrence));
}

Jitter::Jitter(std::optional<uint64_t> seed, const DeviceProfile& profile)
    : seed_(seed), enabled_(seed.has_value()), profile_(profile) {}

void Jitter::replay(const std::vector<Delay>& delays) {
  for (const Delay& d : delays) listed_[d.point] += d.cycles;
  enabled_ = enabled_ || !delays.empty();
}

Cycles Jitter::next(JitterSite site, const Source& source, About about) {
  const int warp = row(site).of_warp ? source.warp : -1;
  const uint64_t occurrence = occurrences_[place_key(site, source.cta, warp, about.to)]++;
  return draw({site, source.cta, warp, about.to, occurrence}, source, about.barrier);
}

Cycles Jitter::wakeup(const Waiter& waiter, uint32_t barrier) {
  return delay_at(waiter.waits - 1, JitterSite::wake_up, waiter.who, {.to = -1, .barrier = barrier});
}

Cycles Jitter::seeded(const JitterPoint& point) const {
  Cycles longest = longest_delay(point.site, profile_);
  const uint64_t place =
      mixed(mixed(*seed_ + 0x9e3779b97f4a7c15u) + place_key(point.site, point.cta, point.warp, point.to));
  // Delays that are alike everywhere even out over a run.  So a seed has places that are never late, and places
  // that always are: a slow role, or a slow path to one CTA.
  const uint64_t mood = place >> 60;
  if (mood < 4) return 0;
  if (mood < 8) longest = (longest + 3) / 4;
  const uint64_t h = mixed(place + (point.occurrence + 1) * 0x9e3779b97f4a7c15u);
  if (row(point.site).bound == JitterBound::issue &&
      (h >> 40) % uint64_t(std::max(1, profile_.jitter.issue_one_in)) != 0)
    return 0;
  return (h & 0xffffffffffu) % (longest + 1);
}

Cycles Jitter::draw(const JitterPoint& point, const Source& source, uint32_t barrier) {
  Cycles cycles = 0;
  if (seed_) {
    cycles = seeded(point);
    if (recording_ && cycles > 0) drawn_.push_back({point, cycles});
  }
  if (listed_.empty()) return cycles;
  const auto listed = listed_.find(point);
  if (listed == listed_.end()) return cycles;
  replayed_.push_back({{point, listed->second}, now(), source, barrier});
  return cycles + listed->second;
}

}  // namespace sm100::models
