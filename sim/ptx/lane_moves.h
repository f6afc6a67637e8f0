// SPDX-License-Identifier: Apache-2.0
/// ld and st of lanes whose bytes lie in one region, without a look at each lane: where lanes are side by side,
/// whole rows move, and where all read the same bytes, they are read once.  What is wrong with an address is not
/// said here.
#pragma once

#include <array>

#include "ptx/program.h"

namespace sm100::sim {

/// Where the bytes of one space lie, or an allocation's.
struct MemoryRegion {
  uint64_t first = 0, bytes = 0;
  uint8_t* host = nullptr;
  uint64_t lane_stride = 0;  ///< each lane has bytes of its own
};

/// What a warp knows of rows of addresses that all its lanes have looked at last.
class LanePlaces {
 public:
  static constexpr uint64_t kNone = UINT64_MAX;  ///< no two neighbours alike

  struct Entry {
    ptx::Row row{UINT32_MAX};
    uint64_t stride = kNone;  ///< from a lane's address to the next one's, modulo the register's width
    uint64_t first = 0;       ///< of the first lane, without an instruction's offset
    MemoryRegion region;      ///< of the lane's bytes, with the offset of the instruction that has looked
  };
  Entry& of(ptx::Row row) { return entries_[(row.at >> 7) % entries_.size()]; }
  void forget(ptx::Row row) { of(row).row = {UINT32_MAX}; }
  void forget_all() {
    for (Entry& entry : entries_) entry.row = {UINT32_MAX};
  }

 private:
  std::array<Entry, 4> entries_;
};

/// An ld or st, with what its text says looked up once.
class LaneMove {
 public:
  explicit LaneMove(const ptx::Access& access);

  /// Weak, of elements up to 8 bytes.
  bool plain() const { return plain_; }
  ptx::Row address_row() const { return address_; }
  /// An instruction in front of it, which every lane has executed on the way here, has the same addresses but for
  /// the offset: what is known of its row holds for this one, if it was executed by all lanes together.
  void follow_same_row() { follows_ = true; }
  bool follows(const LanePlaces::Entry& known) const { return follows_ && known.row == address_; }
  uint64_t address(const ptx::RegisterFile& file, int lane) const {
    return wide_address_
               ? file.read<uint64_t>(address_)[lane] + offset_
               : static_cast<uint32_t>(file.read<uint32_t>(address_)[lane] + static_cast<uint32_t>(offset_));
  }
  /// Of a plain one by all lanes: what there is to know of its row.
  void look(const ptx::RegisterFile& file, const MemoryRegion& region, LanePlaces::Entry& known) const;
  /// Of a plain one by all lanes, of which that is known.  @return false: they are neither side by side nor at one
  /// place, or their bytes lie elsewhere or are not aligned, and nothing has happened
  bool run_together(ptx::RegisterFile& file, const LanePlaces::Entry& known) const;
  /// Of a plain one by any lanes.  @return false: some lane's bytes lie elsewhere or are not aligned, and nothing
  /// has happened
  bool run(ptx::RegisterFile& file, const MemoryRegion& region, ptx::LaneMask lanes) const;

  static constexpr int kMostElements = 8;
  struct Data {
    ptx::Row row{};
    bool wide = false;  ///< 8 bytes for each lane
    bool sink = false;
  };
  /// Between registers and bytes from `at` on, which are those of the lanes, side by side.
  using SideBySide = void (*)(ptx::RegisterFile&, const Data*, uint8_t* at);
  /// Between one register and `host + in[lane]`.
  using Scattered = void (*)(ptx::RegisterFile&, const Data&, uint8_t* host, const uint64_t* in, ptx::LaneMask);
  /// Into one register of all lanes, from `at`.
  using Broadcast = void (*)(ptx::RegisterFile&, const Data&, const uint8_t* at);

 private:
  void broadcast_all(ptx::RegisterFile& file, const uint8_t* at) const;
  /// From each lane's address to the next one's.
  using FindStride = uint64_t (*)(const void* addresses);
  /// Bytes of each lane of the mask from the region's first.  @return not 0: some lane is not aligned, or outside
  using FindPlaces = uint64_t (*)(const void* base, uint64_t offset, const MemoryRegion& region, uint32_t bytes,
                                  ptx::LaneMask lanes, uint64_t* in);

  bool plain_ = false, store_ = false, wide_address_ = false, follows_ = false;
  ptx::Row address_{};
  uint64_t offset_ = 0;
  uint32_t bytes_ = 0;                 ///< of a lane
  SideBySide side_by_side_ = nullptr;  ///< nullptr: none is known
  Broadcast broadcast_ = nullptr;      ///< nullptr: a store
  FindStride find_stride_ = nullptr;
  std::array<Data, kMostElements> data_{};
  uint32_t element_ = 0;  ///< bytes of one value
  int elements_ = 0;
  Scattered scattered_ = nullptr;
  FindPlaces find_places_ = nullptr;
};

inline bool LaneMove::run_together(ptx::RegisterFile& file, const LanePlaces::Entry& known) const {
  const bool side_by_side = known.stride == bytes_ && side_by_side_;
  if (!side_by_side && (known.stride != 0 || !broadcast_)) return false;
  // Where the sum of 32 bits would wrap around, this one leaves the region.
  const uint64_t address = known.first + offset_, in = address - known.region.first;
  const uint64_t of_all = side_by_side ? uint64_t{bytes_} * ptx::kLanes : bytes_;
  if (in >= known.region.bytes || of_all > known.region.bytes - in || (address & (bytes_ - 1)) != 0) return false;
  if (side_by_side)
    side_by_side_(file, data_.data(), known.region.host + in);
  else
    broadcast_all(file, known.region.host + in);
  return true;
}

}  // namespace sm100::sim
