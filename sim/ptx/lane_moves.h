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

/// How far the addresses of a warp's 32 lanes lie apart, of the rows that it has looked at last.
class LaneStrides {
 public:
  static constexpr uint64_t kNone = UINT64_MAX;  ///< no two neighbours alike

  struct Entry {
    ptx::Row row{UINT32_MAX};
    uint64_t stride = kNone;  ///< from a lane's address to the next one's, modulo the register's width
  };
  Entry& of(ptx::Row row) { return entries_[(row.at >> 7) % entries_.size()]; }

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
  /// the offset: its stride is this one's, if it was executed by all lanes together.
  void follow_same_row() { follows_ = true; }
  uint64_t address(const ptx::RegisterFile& file, int lane) const {
    return wide_address_
               ? file.read<uint64_t>(address_)[lane] + offset_
               : static_cast<uint32_t>(file.read<uint32_t>(address_)[lane] + static_cast<uint32_t>(offset_));
  }
  /// Of a plain one.  @return false: some lane's bytes lie elsewhere or are not aligned, and nothing has happened
  bool run(ptx::RegisterFile& file, const MemoryRegion& region, ptx::LaneMask lanes, LaneStrides& strides) const;

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
  template <class Address>
  bool run_at(ptx::RegisterFile& file, const MemoryRegion& region, ptx::LaneMask lanes, LaneStrides& strides) const;
  void broadcast_all(ptx::RegisterFile& file, const uint8_t* at) const;

  bool plain_ = false, store_ = false, wide_address_ = false, follows_ = false;
  ptx::Row address_{};
  uint64_t offset_ = 0;
  uint32_t element_ = 0, bytes_ = 0;  ///< of one value, and of all of a lane
  int elements_ = 0;
  std::array<Data, kMostElements> data_{};
  SideBySide side_by_side_ = nullptr;  ///< nullptr: none is known
  Scattered scattered_ = nullptr;
  Broadcast broadcast_ = nullptr;  ///< nullptr: a store
};

}  // namespace sm100::sim
