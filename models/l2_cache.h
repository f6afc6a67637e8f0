// SPDX-License-Identifier: Apache-2.0
/// What L2 holds: the lines of every allocation in two halves of the chip.
///
/// Modelled: an SM looks into its own half only; a line whose home is the other half is fetched through it and then
/// held in both, so a line that SMs of both halves read takes room twice; the line that nobody has used for longest
/// goes first, more or less: some go early (memory.l2_early_share); written lines lie in their home and must be
/// written back before they go, and before they are more than L2 keeps dirty.  Structure and capacities are
/// measured on an H200 (docs/accuracy-h200-mechanisms.md). Approximated: age is counted in generations of 1/32 of a
/// half; no sets: any line can lie anywhere, and a hash of its address says how early it goes, as if some sets had
/// more lines to hold than others.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "models/profiles/profile.h"

namespace sm100::models {

/// A line's state, in a word: cycle at which L2 has it, the generation with which it goes from each half, and
/// whether its bytes differ from HBM's.
class L2Line {
 public:
  static constexpr int kHalves = 2;
  static constexpr uint32_t kGenerations = 1 << 12;  ///< that a stamp tells apart; 0: the half does not have it

  Cycles ready() const { return bits_ & kReadyMask; }
  void set_ready(Cycles c) { bits_ = (bits_ & ~kReadyMask) | (c < kReadyMask ? c : kReadyMask); }
  uint32_t stamp(int half) const { return uint32_t(bits_ >> shift(half)) & (kGenerations - 1); }
  void set_stamp(int half, uint32_t generation) {
    bits_ = (bits_ & ~(uint64_t{kGenerations - 1} << shift(half))) | uint64_t{generation} << shift(half);
  }
  bool dirty() const { return bits_ >> 63; }
  void set_dirty(bool dirty) { bits_ = (bits_ & ~(uint64_t{1} << 63)) | uint64_t{dirty} << 63; }

 private:
  static constexpr int kReadyBits = 39;  ///< five minutes
  static constexpr uint64_t kReadyMask = (uint64_t{1} << kReadyBits) - 1;
  static constexpr int shift(int half) { return kReadyBits + 12 * half; }
  uint64_t bits_ = 0;
};

class L2Cache {
 public:
  explicit L2Cache(const DeviceProfile& profile);

  enum class Place : uint8_t { own_half, other_half, memory };
  /// A read by an SM of `half`: where the line is; it is in that half afterwards, and in its home.
  /// @param at  the line's address, or any number of its own
  Place read(L2Line& line, uint64_t at, int half, int home);
  /// A read by an SM of `half` would change nothing: the line was used there in the present generation.
  bool is_fresh(const L2Line& line, uint64_t at, int half) const { return line.stamp(half) == new_stamp(at, half); }
  /// A write: the line is in its home afterwards, and nowhere else, and differs from memory.
  /// @return whether it was not there
  bool write(L2Line& line, uint64_t at, int home);

  /// Number of the present generation of a half: as long as it stays, what was used in it is there.
  uint32_t generation(int half) const { return halves_[size_t(half)].present; }
  /// All that was used in this generation of a half is there still, also what goes early.
  bool has_all_of(uint32_t generation, int half) const {
    const Half& h = halves_[size_t(half)];
    return h.present - generation + most_early_ <= h.present - h.oldest;
  }
  /// Takes up to `most` lines off those that have left L2, or must, and are to be written to memory.
  uint64_t take_written_back(uint64_t most);
  /// All that L2 holds is lines of others, which must be written back before ours find room.
  void fill_with_others();

  /// The arrays of lines whose stamps the cache may have to renumber; they must not move.
  void watch(std::vector<L2Line>* lines) { watched_.push_back(lines); }

 private:
  static constexpr uint32_t kMostEarly = 16;  ///< generations by which a line goes early

  struct Half {
    uint32_t present = kMostEarly + 1, oldest = 1;
    uint64_t resident = 0, dirty = 0, used = 0;  ///< lines; used: in the present generation
    uint32_t oldest_dirty = 1;                   ///< written lines of earlier generations have been written back
    std::vector<uint32_t> lines = std::vector<uint32_t>(L2Line::kGenerations);  ///< by the generation they go with
    std::vector<uint32_t> written = std::vector<uint32_t>(L2Line::kGenerations);
  };
  /// The generation that a line goes with which is used now.
  uint32_t new_stamp(uint64_t at, int half) const {
    return halves_[size_t(half)].present - early_[(at >> 7) * 0x9e3779b97f4a7c15 >> 56];
  }
  bool holds(const L2Line& line, int half) const {
    return line.stamp(half) != 0 && line.stamp(half) >= halves_[size_t(half)].oldest;
  }
  void use(L2Line& line, uint64_t at, int half, bool home) {
    const uint32_t stamp = home && line.dirty() ? written_stamp(at, half) : new_stamp(at, half);
    if (line.stamp(half) != stamp) renew(line, stamp, half, home);
  }
  /// Of a line that differs from memory: it does not go before those that have been written back.
  uint32_t written_stamp(uint64_t at, int half) const {
    return std::max(new_stamp(at, half), halves_[size_t(half)].oldest_dirty);
  }
  /// Of a line that was not used in the present generation.
  void renew(L2Line& line, uint32_t new_stamp, int half, bool home);
  void make_room(Half& half);
  void renumber();

  std::array<Half, L2Line::kHalves> halves_;
  uint64_t capacity_, generation_lines_, most_dirty_;  ///< lines of a half
  uint64_t to_write_back_ = 0;
  std::array<uint8_t, 256> early_{};  ///< generations by which lines go early, by a hash
  uint32_t most_early_ = 0;
  std::vector<std::vector<L2Line>*> watched_;
};

inline L2Cache::Place L2Cache::read(L2Line& line, uint64_t at, int half, int home) {
  const int other = 1 - half;
  const Place place = holds(line, half) ? Place::own_half : holds(line, other) ? Place::other_half : Place::memory;
  if (place == Place::memory) line.set_dirty(false);
  use(line, at, half, half == home);
  if (place != Place::own_half && home == other) use(line, at, other, true);
  return place;
}

}  // namespace sm100::models
