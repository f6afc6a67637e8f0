// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/lane_moves.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "ptx/alu/wide.h"

namespace sm100::sim {

using ptx::kAllLanes;
using ptx::kLanes;
using ptx::LaneMask;
using ptx::RegisterFile;

namespace {

using Data = LaneMove::Data;

// ---- where lanes are ----

/// How the addresses of all 32 lanes lie to the first one's.
enum class Pattern : uint8_t { side_by_side, same, other };

template <class Address>
Pattern find_pattern(const Address* addresses, uint32_t bytes) {
  const Address first = addresses[0];
  const int shift = std::countr_zero(bytes);
  Address apart = 0, out_of_line = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto distance = static_cast<Address>(addresses[lane] - first);
    apart |= distance;
    out_of_line |= distance ^ static_cast<Address>(static_cast<Address>(lane) << shift);
  }
  return out_of_line == 0 ? Pattern::side_by_side : apart == 0 ? Pattern::same : Pattern::other;
}

/// Bytes of each lane of the mask from the region's first.  @return not 0: some lane is not aligned, or outside
template <class Address>
uint64_t find_places(const Address* base, Address offset, const MemoryRegion& region, uint32_t bytes,
                     LaneMask lanes, uint64_t* in) {
  const uint64_t last = region.bytes - bytes, first = region.first, low = bytes - 1;
  uint64_t wrong = 0;
  const auto one = [&](int lane) {
    const uint64_t address = static_cast<Address>(base[lane] + offset);
    in[lane] = address - first;
    wrong |= (address & low) | uint64_t{address - first > last};
  };
  if (lanes == kAllLanes)
    for (int lane = 0; lane < kLanes; ++lane) one(lane);
  else
    for (LaneMask left = lanes; left != 0; left &= left - 1) one(std::countr_zero(left));
  if (const uint64_t stride = region.lane_stride)
    for (LaneMask left = lanes; left != 0; left &= left - 1)
      in[std::countr_zero(left)] += static_cast<uint64_t>(std::countr_zero(left)) * stride;
  return wrong;
}

// ---- one register and lanes wherever they are ----

template <class T, class Register>
void load_lanes(Register* to, uint8_t* host, const uint64_t* in, LaneMask lanes) {
  const auto one = [&](int lane) {
    T value;
    std::memcpy(&value, host + in[lane], sizeof value);
    to[lane] = static_cast<Register>(value);
  };
  if (lanes == kAllLanes)
    for (int lane = 0; lane < kLanes; ++lane) one(lane);
  else
    for (LaneMask left = lanes; left != 0; left &= left - 1) one(std::countr_zero(left));
}
/// Of lanes with the same address the last one's value stays.
template <class T, class Register>
void store_lanes(const Register* from, uint8_t* host, const uint64_t* in, LaneMask lanes) {
  const auto one = [&](int lane) {
    const T value = static_cast<T>(from[lane]);
    std::memcpy(host + in[lane], &value, sizeof value);
  };
  if (lanes == kAllLanes)
    for (int lane = 0; lane < kLanes; ++lane) one(lane);
  else
    for (LaneMask left = lanes; left != 0; left &= left - 1) one(std::countr_zero(left));
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
/// Registers of as many bytes as memory has for them: vectors.
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

bool LaneMove::run(RegisterFile& file, const MemoryRegion& region, LaneMask lanes) const {
  if (region.bytes < bytes_) return false;
  return wide_address_ ? run_at<uint64_t>(file, region, lanes) : run_at<uint32_t>(file, region, lanes);
}

template <class Address>
bool LaneMove::run_at(RegisterFile& file, const MemoryRegion& region, LaneMask lanes) const {
  static const auto find_pattern_wide = ptx::wide<&find_pattern<Address>>();
  static const auto find_places_wide = ptx::wide<&find_places<Address>>();
  const Address* const base = file.read<Address>(address_);
  const auto offset = static_cast<Address>(offset_);
  if (lanes == kAllLanes && region.lane_stride == 0) {
    const auto first = static_cast<Address>(base[0] + offset);
    const uint64_t in = first - region.first;
    const Pattern pattern = find_pattern_wide(base, bytes_);
    const uint64_t of_all = uint64_t{bytes_} * (pattern == Pattern::side_by_side ? kLanes : 1);
    const bool fits = (first & (bytes_ - 1)) == 0 && region.bytes >= of_all && in <= region.bytes - of_all &&
                      first <= std::numeric_limits<Address>::max() - (of_all - 1);
    if (fits && pattern == Pattern::side_by_side && side_by_side_)
      return side_by_side_(file, data_.data(), region.host + in), true;
    if (fits && pattern == Pattern::same && broadcast_) return broadcast_all(file, region.host + in), true;
  }
  uint64_t in[kLanes];
  if (find_places_wide(base, offset, region, bytes_, lanes, in) != 0) return false;
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
