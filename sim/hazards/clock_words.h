// SPDX-License-Identifier: Apache-2.0
/// The clocks of a VectorClock: an array that several hold as long as none of them changes it.
///
/// What a warp knows goes through a barrier's arrivals, its phase and every warp that waits for it, and most of it
/// is the same at each: copies would be half of what the checker reads and writes.  Of one thread: counts are
/// plain.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace sm100::sim {

class ClockWords {
 public:
  ClockWords() = default;
  ClockWords(const ClockWords& other) : at_(other.at_) {
    if (at_) ++at_[kUses];
  }
  ClockWords(ClockWords&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  ClockWords& operator=(ClockWords other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~ClockWords() {
    if (at_ && --at_[kUses] == 0) keep(at_);
  }

  uint32_t size() const { return at_ ? at_[kSize] : 0; }
  const uint32_t* begin() const { return at_ ? at_ + kFirst : nullptr; }
  uint32_t operator[](uint32_t i) const { return at_[kFirst + i]; }
  bool is_same(const ClockWords& other) const { return at_ == other.at_; }

  /// Nobody else's from now on, of that size at least; what is new is 0.
  uint32_t* own(uint32_t size) {
    const uint32_t before = this->size(), needed = std::max(size, before);
    if (at_ && at_[kUses] == 1 && needed <= at_[kRoom]) {
      std::fill(at_ + kFirst + before, at_ + kFirst + needed, 0u);
      at_[kSize] = needed;
    } else {
      *this = of(begin(), before, needed);
    }
    return at_ + kFirst;
  }
  /// A copy of `count` of them.
  void copy(const uint32_t* from, uint32_t count) {
    if (at_ && at_[kUses] == 1 && count <= at_[kRoom]) {
      std::copy_n(from, count, at_ + kFirst);
      at_[kSize] = count;
    } else {
      *this = of(from, count, count);
    }
  }
  void clear() { *this = {}; }

 private:
  static constexpr size_t kUses = 0, kSize = 1, kRoom = 2, kFirst = 4;

  static ClockWords of(const uint32_t* from, uint32_t count, uint32_t size) {
    ClockWords made;
    made.at_ = take(size);
    made.at_[kUses] = 1, made.at_[kSize] = size;
    std::fill(std::copy_n(from, count, made.at_ + kFirst), made.at_ + kFirst + size, 0u);
    return made;
  }

  /// Arrays without a holder, by the power of two that their room is; the last is in the caches still.
  using Spare = std::array<std::vector<uint32_t*>, 32>;
  static Spare& spare() {
    static Spare& all = *new Spare;  // clocks may outlive everything but the program
    return all;
  }
  static uint32_t* take(uint32_t size) {
    const uint32_t room = std::bit_ceil(std::max(size + uint32_t(kFirst), 16u));
    std::vector<uint32_t*>& arrays = spare()[size_t(std::countr_zero(room))];
    if (arrays.empty()) {
      uint32_t* const made = std::allocator<uint32_t>().allocate(room);
      made[kRoom] = room - uint32_t(kFirst);
      return made;
    }
    uint32_t* const array = arrays.back();
    arrays.pop_back();
    return array;
  }
  static void keep(uint32_t* array) {
    spare()[size_t(std::countr_zero(array[kRoom] + uint32_t(kFirst)))].push_back(array);
  }

  uint32_t* at_ = nullptr;  ///< how many hold it, how many clocks it has and has room for; then these
};

}  // namespace sm100::sim
