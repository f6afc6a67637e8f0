// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/footprints.h"

#include <algorithm>

namespace sm100::sim {
namespace {

using Intervals = std::vector<Footprints::Interval>;

Intervals normalized(Intervals all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Intervals merged;
  for (const auto& i : all) {
    if (!merged.empty() && i.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, i.end);
    else
      merged.push_back(i);
  }
  return merged;
}

uint64_t size_of(const Intervals& all) {
  uint64_t size = 0;
  for (const auto& i : all) size += i.end - i.begin;
  return size;
}

uint64_t size_of_common(const Intervals& a, const Intervals& b) {
  uint64_t size = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const uint32_t begin = std::max(a[i].begin, b[j].begin), end = std::min(a[i].end, b[j].end);
    if (begin < end) size += end - begin;
    a[i].end < b[j].end ? ++i : ++j;
  }
  return size;
}

}  // namespace

Footprints::Id Footprints::add(uint64_t key, std::vector<Interval> intervals) {
  const Id id = Id(sets_.size());
  ids_[key] = id;
  sets_.push_back({normalized(std::move(intervals)), {}});
  Set& set = sets_.back();
  const uint64_t size = size_of(set.intervals);
  for (Id other = 0; other <= id; ++other) {
    const uint64_t common = size_of_common(set.intervals, sets_[other].intervals);
    if (common == 0) continue;
    set.overlaps.push_back({other, common == size_of(sets_[other].intervals)});
    if (other != id) sets_[other].overlaps.push_back({id, common == size});
  }
  return id;
}

uint32_t Footprints::bytes(Id id) const { return uint32_t(size_of(sets_[id].intervals)); }

uint32_t Footprints::bytes_outside(Id id, std::vector<Interval> others) const {
  return bytes(id) - uint32_t(size_of_common(sets_[id].intervals, normalized(std::move(others))));
}

}  // namespace sm100::sim
