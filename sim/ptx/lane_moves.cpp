// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/lane_moves.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/alu/wide.h"

namespace sm100::sim {

using ptx::kLanes;
using ptx::LaneMask;
using ptx::RegisterFile;

namespace {

using Data = LaneMove::Data;

// ---- where lanes are ----

/// From each lane's address to the next one's, where all are alike.
template <class Address>
uint64_t find_stride(const void* of_lanes) {
  const auto* const addresses = static_cast<const Address*>(of_lanes);
  const auto stride = static_cast<Address>(addresses[1] - addresses[0]);
  // Rows are read as they have been written, from their beginnings: processors hand such bytes on at once.
  Address unlike = 0, expected = addresses[0];
  for (int lane = 0; lane < kLanes; ++lane) {
    unlike |= addresses[lane] ^ expected;
    expected = static_cast<Address>(expected + stride);
  }
  return unlike == 0 ? stride : LanePlaces::kNone;
}

/// Bytes of each lane of the mask from the region's first.  @return not 0: some lane is not aligned, or outside
template <class Address>
uint64_t find_places(const void* of_lanes, uint64_t offset, const MemoryRegion& region, uint32_t bytes,
                     LaneMask lanes, uint64_t* in) {
  const auto* const base = static_cast<const Address*>(of_lanes);
  const uint64_t last = region.bytes - bytes, first = region.first, low = bytes - 1;
  uint64_t wrong = 0;
  const auto one = [&](int lane) {
    const uint64_t address = static_cast<Address>(base[lane] + static_cast<Address>(offset));
    in[lane] = address - first;
    wrong |= (address & low) | uint64_t{address - first > last};
  };
  if (lanes == ptx::kAllLanes)
    for (int lane = 0; lane < kLanes; ++lane) one(lane);
  else
    for (LaneMask left = lanes; left != 0; left &= left - 1) one(std::countr_zero(left));
  if (const uint64_t stride = region.lane_stride)
    for (LaneMask left = lanes; left != 0; left &= left - 1)
      in[std::countr_zero(left)] += static_cast<uint64_t>(std::countr_zero(left)) * stride;
  return wrong;
}

// ---- one register and lanes wherever they are ----

/// move(lane) for those of the mask, in their order: of stores to the same address the last lane's value stays.
template <class Move>
void for_each_of(LaneMask lanes, Move&& move) {
  if (lanes == ptx::kAllLanes)
    for (int lane = 0; lane < kLanes; lane += 8)
      move(lane), move(lane + 1), move(lane + 2), move(lane + 3), move(lane + 4), move(lane + 5), move(lane + 6),
          move(lane + 7);
  else
    for (LaneMask left = lanes; left != 0; left &= left - 1) move(std::countr_zero(left));
}
template <class T, class Register>
void load_lanes(Register* to, const uint8_t* host, const uint64_t* in, LaneMask lanes) {
  for_each_of(lanes, [=](int lane) {
    T value;
    std::memcpy(&value, host + in[lane], sizeof value);
    to[lane] = static_cast<Register>(value);
  });
}
template <class T, class Register>
void store_lanes(const Register* from, uint8_t* host, const uint64_t* in, LaneMask lanes) {
  for_each_of(lanes, [=](int lane) {
    const T value = static_cast<T>(from[lane]);
    std::memcpy(host + in[lane], &value, sizeof value);
  });
}
template <class T>
void load_scattered(RegisterFile& file, const Data& d, uint8_t* host, const uint64_t* in, LaneMask lanes) {
  if (d.wide)
    load_lanes<T>(file.write<uint64_t>(d.row), host, in, lanes);
  else
    load_lanes<T>(file.write<uint32_t>(d.row), host, in, lanes);
}
template <class T>
void store_scattered(RegisterFile& file, const Data& d, uint8_t* host, const uint64_t* in, LaneMask lanes) {
  if (d.wide)
    store_lanes<T>(file.read<uint64_t>(d.row), host, in, lanes);
  else
    store_lanes<T>(file.read<uint32_t>(d.row), host, in, lanes);
}
template <class T>
void broadcast(RegisterFile& file, const Data& d, const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if (d.wide)
    std::fill_n(file.write<uint64_t>(d.row), kLanes, static_cast<uint64_t>(value));
  else
    std::fill_n(file.write<uint32_t>(d.row), kLanes, static_cast<uint32_t>(value));
}

// ---- all lanes, side by side ----

template <class T, class Register>
void load_row(RegisterFile& file, const Data* d, uint8_t* at) {
  T values[kLanes];
  std::memcpy(values, at, sizeof values);
  Register* const to = file.write<Register>(d->row);
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = static_cast<Register>(values[lane]);
}
template <class T, class Register>
void store_row(RegisterFile& file, const Data* d, uint8_t* at) {
  T values[kLanes];
  const Register* const from = file.read<Register>(d->row);
  for (int lane = 0; lane < kLanes; ++lane) values[lane] = static_cast<T>(from[lane]);
  std::memcpy(at, values, sizeof values);
}
/// Four lanes' four values of 4 bytes, one lane after the other, against four registers' values of these lanes.
using FourWords = uint32_t __attribute__((vector_size(16)));

void transpose(FourWords& a, FourWords& b, FourWords& c, FourWords& d) {
  const FourWords ac_low = __builtin_shufflevector(a, c, 0, 4, 1, 5),
                  ac_high = __builtin_shufflevector(a, c, 2, 6, 3, 7);
  const FourWords bd_low = __builtin_shufflevector(b, d, 0, 4, 1, 5),
                  bd_high = __builtin_shufflevector(b, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ac_low, bd_low, 0, 4, 1, 5);
  b = __builtin_shufflevector(ac_low, bd_low, 2, 6, 3, 7);
  c = __builtin_shufflevector(ac_high, bd_high, 0, 4, 1, 5);
  d = __builtin_shufflevector(ac_high, bd_high, 2, 6, 3, 7);
}

/// .v4 of registers of 4 bytes.
void load_four_rows(RegisterFile& file, const Data* d, uint8_t* at) {
  uint32_t* to[4];
  for (int e = 0; e < 4; ++e) to[e] = file.write<uint32_t>(d[e].row);
  for (int lane = 0; lane < kLanes; lane += 4) {
    FourWords four[4];
    for (int e = 0; e < 4; ++e)
      std::memcpy(&four[e], at + static_cast<size_t>(lane + e) * sizeof(FourWords), sizeof(FourWords));
    transpose(four[0], four[1], four[2], four[3]);
    for (int e = 0; e < 4; ++e) std::memcpy(to[e] + lane, &four[e], sizeof(FourWords));
  }
}
void store_four_rows(RegisterFile& file, const Data* d, uint8_t* at) {
  const uint32_t* from[4];
  for (int e = 0; e < 4; ++e) from[e] = file.read<uint32_t>(d[e].row);
  for (int lane = 0; lane < kLanes; lane += 4) {
    FourWords four[4];
    for (int e = 0; e < 4; ++e) std::memcpy(&four[e], from[e] + lane, sizeof(FourWords));
    transpose(four[0], four[1], four[2], four[3]);
    for (int e = 0; e < 4; ++e)
      std::memcpy(at + static_cast<size_t>(lane + e) * sizeof(FourWords), &four[e], sizeof(FourWords));
  }
}

/// Other registers of as many bytes as memory has for them.
template <class T, int kElements>
void load_rows(RegisterFile& file, const Data* d, uint8_t* at) {
  T values[kElements][kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int e = 0; e < kElements; ++e)
      std::memcpy(&values[e][lane], at + static_cast<size_t>(lane * kElements + e) * sizeof(T), sizeof(T));
  for (int e = 0; e < kElements; ++e) std::memcpy(file.write<T>(d[e].row), values[e], sizeof values[e]);
}
template <class T, int kElements>
void store_rows(RegisterFile& file, const Data* d, uint8_t* at) {
  const T* from[kElements];
  for (int e = 0; e < kElements; ++e) from[e] = file.read<T>(d[e].row);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int e = 0; e < kElements; ++e)
      std::memcpy(at + static_cast<size_t>(lane * kElements + e) * sizeof(T), &from[e][lane], sizeof(T));
}

// ---- which of them ----

template <class T>
LaneMove::SideBySide row_function(bool store, bool wide_register) {
  if (store) return wide_register ? ptx::wide<&store_row<T, uint64_t>>() : ptx::wide<&store_row<T, uint32_t>>();
  return wide_register ? ptx::wide<&load_row<T, uint64_t>>() : ptx::wide<&load_row<T, uint32_t>>();
}
template <class T>
LaneMove::SideBySide rows_function(bool store, int elements) {
  if (sizeof(T) == 4 && elements == 4) return store ? ptx::wide<&store_four_rows>() : ptx::wide<&load_four_rows>();
  switch (elements) {
    case 2: return store ? ptx::wide<&store_rows<T, 2>>() : ptx::wide<&load_rows<T, 2>>();
    case 4: return store ? ptx::wide<&store_rows<T, 4>>() : ptx::wide<&load_rows<T, 4>>();
    default: return nullptr;
  }
}

struct Functions {
  LaneMove::Scattered load = nullptr, store = nullptr;
  LaneMove::Broadcast broadcast = nullptr;
  LaneMove::SideBySide (*row)(bool store, bool wide_register) = nullptr;
};
template <class T>
constexpr Functions kFunctionsOf{&load_scattered<T>, &store_scattered<T>, &broadcast<T>, &row_function<T>};

Functions functions_of(ptx::Type type, uint32_t element) {
  const bool is_signed = ptx::is_signed(type);
  switch (element) {
    case 1: return is_signed ? kFunctionsOf<int8_t> : kFunctionsOf<uint8_t>;
    case 2: return is_signed ? kFunctionsOf<int16_t> : kFunctionsOf<uint16_t>;
    case 4: return is_signed ? kFunctionsOf<int32_t> : kFunctionsOf<uint32_t>;
    default: return kFunctionsOf<uint64_t>;
  }
}

}  // namespace

LaneMove::LaneMove(const ptx::Access& access) {
  element_ = static_cast<uint32_t>(std::max(1, ptx::bytes(access.type)));
  elements_ = static_cast<int>(access.data.size());
  bytes_ = element_ * access.vector;
  plain_ = access.order == ptx::Order::weak && element_ <= 8 && elements_ <= kMostElements;
  if (!plain_) return;
  store_ = access.store;
  address_ = access.address.row;
  offset_ = static_cast<uint64_t>(access.address.offset);
  wide_address_ = access.address.width != 4;
  find_stride_ = wide_address_ ? ptx::wide<&find_stride<uint64_t>>() : ptx::wide<&find_stride<uint32_t>>();
  find_places_ = wide_address_ ? ptx::wide<&find_places<uint64_t>>() : ptx::wide<&find_places<uint32_t>>();
  bool same_bytes = true;
  for (size_t e = 0; e < access.data.size(); ++e) {
    const ptx::Operand& o = access.data[e];
    const bool sink = !store_ && o.kind == ptx::Operand::Kind::sink;
    data_[e] = {o.row, o.width != 4, sink};
    same_bytes &= !sink && o.width == element_;
  }
  const Functions functions = functions_of(access.type, element_);
  scattered_ = store_ ? functions.store : functions.load;
  if (!store_) broadcast_ = functions.broadcast;
  if (elements_ == 1 && !data_[0].sink)
    side_by_side_ = functions.row(store_, data_[0].wide);
  else if (same_bytes)
    side_by_side_ =
        element_ == 8 ? rows_function<uint64_t>(store_, elements_) : rows_function<uint32_t>(store_, elements_);
}

void LaneMove::look(const RegisterFile& file, const MemoryRegion& region, LanePlaces::Entry& known) const {
  constexpr uint64_t kNarrow = uint64_t{1} << 32;  // addresses of 32 bits wrap around there
  known.row = address_;
  known.stride = find_stride_(file.read<uint8_t>(address_));
  known.first = wide_address_ ? *file.read<uint64_t>(address_) : *file.read<uint32_t>(address_);
  known.region.first = region.first;
  known.region.bytes = region.lane_stride != 0                                   ? 0
                       : wide_address_ || region.first + region.bytes <= kNarrow ? region.bytes
                       : region.first < kNarrow                                  ? kNarrow - region.first
                                                                                 : 0;
  known.region.host = region.host;
}

bool LaneMove::run(RegisterFile& file, const MemoryRegion& region, LaneMask lanes) const {
  if (region.bytes < bytes_) return false;
  uint64_t in[kLanes];
  if (find_places_(file.read<uint8_t>(address_), offset_, region, bytes_, lanes, in) != 0) return false;
  for (int e = 0; e < elements_; ++e)
    if (const Data& d = data_[static_cast<size_t>(e)]; !d.sink)
      scattered_(file, d, region.host + static_cast<size_t>(e) * element_, in, lanes);
  return true;
}

void LaneMove::broadcast_all(RegisterFile& file, const uint8_t* at) const {
  for (int e = 0; e < elements_; ++e)
    if (const Data& d = data_[static_cast<size_t>(e)]; !d.sink)
      broadcast_(file, d, at + static_cast<size_t>(e) * element_);
}

}  // namespace sm100::sim
