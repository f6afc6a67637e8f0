// SPDX-License-Identifier: Apache-2.0
/// Sets of bytes (or cells) that accesses touch, exactly, and how they overlap.
///
/// A kernel touches the same few hundred sets again and again: a stage, an operand of an MMA inside it, a row of a
/// strip. Each is kept once with its overlaps, so that an access costs as much as it has neighbours, not bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sm100::sim {

class Footprints {
 public:
  using Id = uint32_t;
  struct Interval {
    uint32_t begin, end;
  };
  struct Overlap {
    Id other;
    bool covers;  ///< ours holds all of the other
  };

  /// The set that `key` stands for; `make` says what is in it the first time.
  template <class Make>
  Id intern(uint64_t key, Make&& make) {
    if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
    return add(key, make());
  }
  /// [begin, begin + size)
  Id intern_range(uint32_t begin, uint32_t size) {
    return intern(uint64_t{begin} << 32 | size, [=] { return std::vector<Interval>{{begin, begin + size}}; });
  }
  /// All sets that have something in common with it, itself included.
  const std::vector<Overlap>& overlaps(Id id) const { return sets_[id].overlaps; }
  /// From its first to its last byte.
  Interval bounds(Id id) const { return {sets_[id].intervals.front().begin, sets_[id].intervals.back().end}; }
  size_t size() const { return sets_.size(); }
  uint32_t bytes(Id id) const;
  /// How many bytes of a set lie in none of the others that `counts` accepts.
  template <class Counts>
  uint32_t bytes_outside(Id id, Counts&& counts) const {
    std::vector<Interval> inside;
    for (const Overlap& overlap : sets_[id].overlaps)
      if (counts(overlap.other))
        inside.insert(inside.end(), sets_[overlap.other].intervals.begin(), sets_[overlap.other].intervals.end());
    return bytes_outside(id, std::move(inside));
  }

 private:
  Id add(uint64_t key, std::vector<Interval> intervals);
  uint32_t bytes_outside(Id id, std::vector<Interval> others) const;

  struct Set {
    std::vector<Interval> intervals;  ///< ascending, apart
    std::vector<Overlap> overlaps;
  };
  std::vector<Set> sets_;
  std::unordered_map<uint64_t, Id> ids_;
};

}  // namespace sm100::sim
