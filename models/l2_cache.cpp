// SPDX-License-Identifier: Apache-2.0
#include "models/l2_cache.h"

#include <algorithm>
#include <cmath>

namespace sm100::models {
namespace {

constexpr uint64_t kGenerationsOfAHalf = 32;

}  // namespace

L2Cache::L2Cache(const DeviceProfile& profile)
    : capacity_((uint64_t(profile.memory.l2_mib) << 20) / uint64_t(profile.memory.line_bytes) / L2Line::kHalves),
      generation_lines_(std::max<uint64_t>(1, capacity_ / kGenerationsOfAHalf)),
      most_dirty_((uint64_t(profile.memory.l2_dirty_mib) << 20) / uint64_t(profile.memory.line_bytes) /
                  L2Line::kHalves) {
  // Quantiles of an exponential distribution.
  for (size_t i = 0; i < early_.size(); ++i) {
    const double part = (double(i) + 0.5) / double(early_.size());
    const double early = -std::log(part) * profile.memory.l2_early_share * double(kGenerationsOfAHalf);
    early_[i] = uint8_t(std::min(double(kMostEarly), std::floor(early + 0.5)));
  }
  most_early_ = early_[0];
}

void L2Cache::renew(L2Line& line, uint32_t new_stamp, int half, bool home) {
  Half& h = halves_[size_t(half)];
  const uint32_t stamp = line.stamp(half);
  const bool was_written = home && line.dirty() && stamp >= h.oldest_dirty && stamp >= h.oldest && stamp != 0;
  if (holds(line, half))
    --h.lines[stamp];
  else
    ++h.resident;
  if (home && line.dirty()) {
    if (was_written)
      --h.written[stamp], ++h.written[new_stamp];
    else
      line.set_dirty(false);  // it has been written back in the meantime
  }
  line.set_stamp(half, new_stamp);
  ++h.lines[new_stamp];
  if (++h.used >= generation_lines_ || h.resident > capacity_) make_room(h);
}

void L2Cache::make_room(Half& h) {
  while (h.resident > capacity_ && h.oldest + most_early_ < h.present) {
    h.resident -= h.lines[h.oldest];
    to_write_back_ += h.written[h.oldest], h.dirty -= h.written[h.oldest];
    h.lines[h.oldest] = h.written[h.oldest] = 0;
    ++h.oldest;
  }
  if (h.used < generation_lines_) return;
  h.used = 0;
  if (++h.present == L2Line::kGenerations) renumber();
}

/// Generations are numbered from 1 again; the oldest of many become one, and lines that no half has lose their
/// stamps.
void L2Cache::renumber() {
  std::array<uint32_t, L2Line::kHalves> by;
  for (size_t half = 0; half < by.size(); ++half) {
    const Half& h = halves_[half];
    by[half] =
        std::max(h.oldest - 1, h.present > L2Line::kGenerations / 2 ? h.present - L2Line::kGenerations / 2 : 0);
  }
  const auto renumbered = [](uint32_t stamp, uint32_t less) { return stamp > less ? stamp - less : 1; };
  for (std::vector<L2Line>* lines : watched_)
    for (L2Line& line : *lines)
      for (int half = 0; half < L2Line::kHalves; ++half)
        line.set_stamp(half, holds(line, half) ? renumbered(line.stamp(half), by[size_t(half)]) : 0);
  for (size_t half = 0; half < by.size(); ++half) {
    Half& h = halves_[half];
    std::vector<uint32_t> lines(h.lines.size()), written(h.lines.size());
    for (uint32_t g = h.oldest; g < L2Line::kGenerations && g <= h.present; ++g) {
      lines[renumbered(g, by[half])] += h.lines[g];
      written[renumbered(g, by[half])] += h.written[g];
    }
    h.lines = std::move(lines), h.written = std::move(written);
    h.oldest = renumbered(h.oldest, by[half]), h.oldest_dirty = renumbered(h.oldest_dirty, by[half]);
    h.present -= by[half];
  }
}

bool L2Cache::write(L2Line& line, uint64_t at, int home) {
  const bool there = holds(line, home);
  if (const int other = 1 - home; holds(line, other)) {
    Half& h = halves_[size_t(other)];
    --h.lines[line.stamp(other)], --h.resident;
    if (is_fresh(line, at, other)) --h.used;
    line.set_stamp(other, 0);
  }
  if (!there) line.set_dirty(false);
  Half& h = halves_[size_t(home)];
  if (const uint32_t stamp = written_stamp(at, home); line.stamp(home) != stamp) renew(line, stamp, home, true);
  const uint32_t stamp = line.stamp(home);
  if (line.dirty() && stamp >= h.oldest_dirty) return !there;
  line.set_dirty(true);
  ++h.written[stamp], ++h.dirty;
  while (h.dirty > most_dirty_ && h.oldest_dirty < h.present) {
    const uint32_t oldest = std::max(h.oldest_dirty, h.oldest);
    to_write_back_ += h.written[oldest], h.dirty -= h.written[oldest];
    h.written[oldest] = 0;
    h.oldest_dirty = oldest + 1;
  }
  return !there;
}

uint64_t L2Cache::take_written_back(uint64_t most) {
  const uint64_t taken = std::min(most, to_write_back_);
  to_write_back_ -= taken;
  return taken;
}

void L2Cache::fill_with_others() { to_write_back_ = capacity_ * L2Line::kHalves; }

}  // namespace sm100::models
